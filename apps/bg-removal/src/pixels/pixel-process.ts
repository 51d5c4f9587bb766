import { z } from 'zod';
import { decodeFull, openImage, type OpenedImage } from '../images/decode.js';
import { encode, exceedsFormat } from '../images/encode.js';
import { memoryEstimate } from '../images/memory-estimate.js';
import { findSubject } from '../matte/find-subject.js';
import type { Plane } from '../matte/plane.js';
import { createLook } from '../matte/surroundings.js';
import { defaultTuning, neutralTuning } from '../matte/tuning.js';
import {
  maskSchema,
  memoryGranted,
  pixelSettingsSchema,
  pixelTaskSchema,
  type Mask,
  type PixelResult,
  type PixelTask,
  type Step,
  type View,
} from './task.js';
import { ThreadTeam, type TeamImage } from './thread-team.js';
import { cutOutDisc, WarmUp } from './warm-up.js';

/**
 * Entry point of a pixel process, run by the engine supervisor. Processes one image at a time.
 * Only the IPC channel keeps it alive, so it ends with its parent.
 */
const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run'), id: z.int(), job: pixelTaskSchema }),
  z.object({
    type: z.literal('continue'),
    id: z.int(),
    data: z.union([maskSchema, z.literal(memoryGranted)]),
  }),
  z.object({ type: z.literal('cancel'), id: z.int() }),
  z.object({ type: z.literal('prepare') }),
]);

/** Interval between memory checks while processing an image. */
const memoryCheckMs = 50;
/** Four bytes for each of eight million pixels. */
const largeBytes = 32_000_000;
/** An image that takes this many times its estimate is not what its header says. */
const usualTolerance = 1.25;

/** Messages from the parent about the current image. */
interface Conversation {
  readonly id: number;
  isCancelled: boolean;
  onReply: (reply: Mask | typeof memoryGranted) => void;
  onCancel: () => void;
}
let current: Conversation | undefined;

function send(message: object): void {
  process.send?.(message);
}

/** Sends an intermediate result to the parent and waits for the reply. */
async function ask(step: Step, conversation: Conversation): Promise<Mask | typeof memoryGranted> {
  return new Promise((resolve, reject) => {
    conversation.onReply = resolve;
    conversation.onCancel = () => reject(new Error('The image was cancelled.'));
    send({ id: conversation.id, step });
  });
}

async function maskOf(view: View, conversation: Conversation): Promise<Plane> {
  const reply = await ask(view, conversation);
  if (reply === memoryGranted) throw new Error('The reply has no mask.');
  return { data: reply.mask, width: reply.width, height: reply.height };
}

/** Decodes once, and keeps the pixels while the network processes its views. */
async function run(
  { file, limits, inputSize, tuning, output }: PixelTask,
  conversation: Conversation,
  memory: MemoryWatch,
): Promise<PixelResult> {
  const clock = stopwatch();
  const opened = await openImage(file, limits);
  if ('rejection' in opened) return { kind: 'rejected', rejection: opened.rejection };
  // The size of a crop is known only once the subject is.
  if (output.cropMargin === undefined && exceedsFormat(output, opened.size))
    return { kind: 'rejected', rejection: { code: 'too_large_for_format', isCutOut: false } };
  const neededBytes = memoryEstimate(opened, output);
  const maxBytes = settings.maxMemoryBytes;
  if (neededBytes > maxBytes)
    return { kind: 'rejected', rejection: { code: 'needs_too_much_memory', neededBytes, maxBytes } };
  await ask({ neededBytes }, conversation);
  // A small image must not pay for what its process has kept of a larger one.
  const expectedBytes = Math.max(neededBytes, settings.keptMemoryBytes);
  memory.limitBytes = expectedBytes * (settings.memoryTolerance ?? usualTolerance);
  // Waiting is no work.
  clock();
  const shared = await decodeForTeam(opened);
  // The header is valid, so the pixels are damaged or incomplete.
  if (shared === undefined) return { kind: 'rejected', rejection: { code: 'damaged_pixels' } };
  // The decoder's pixels would otherwise stay until the matte is done.
  if (shared.image.data.length > largeBytes) globalThis.gc?.();
  const { image } = shared;
  let stages: View['stages'] = { decode: clock() };
  const network = async (rgb: Uint8Array): Promise<Plane> => {
    stages = { ...stages, prepare: clock() };
    const seen = await maskOf({ rgb, stages }, conversation);
    stages = {};
    clock();
    return seen;
  };
  const look = createLook(inputSize, (area, size) => shared.view(area, size), network);
  const { isOpaque } = shared;
  const found = await findSubject(image, isOpaque, look);
  const subject =
    found.kind === 'mask'
      ? await shared.cutOut(found.mask, { ...defaultTuning, ...tuning })
      : await shared.keepOwnAlpha(found, { ...neutralTuning, ...tuning });
  if (subject === undefined) return { kind: 'rejected', rejection: { code: 'no_foreground' } };
  const matte = clock();
  // Yields to the event loop: the only chance to receive a cancellation sent during the matte.
  await new Promise((resolve) => setImmediate(resolve));
  if (conversation.isCancelled) throw new Error('The image was cancelled.');
  const encoded = await encode(image, output, subject, opened.density);
  if (encoded === undefined)
    return { kind: 'rejected', rejection: { code: 'too_large_for_format', isCutOut: true } };
  return { kind: 'cut-out', image: encoded, subject, stages: { matte, encode: clock() } };
}

/** The team has a copy of the decoder's pixels, and nothing else holds those. */
async function decodeForTeam(opened: OpenedImage): Promise<TeamImage | undefined> {
  const decoded = await decodeFull(opened);
  return decoded && team.begin(decoded, opened.hasAlpha);
}

/** Each call returns the milliseconds since the previous one. */
function stopwatch(): () => number {
  let last = performance.now();
  return () => {
    const now = performance.now();
    const passed = now - last;
    last = now;
    return passed;
  };
}

/** Ends the process, including native work, if an image takes more memory than it may. */
class MemoryWatch {
  limitBytes: number;
  readonly #timer: NodeJS.Timeout;

  constructor(id: number, limitBytes: number) {
    this.limitBytes = limitBytes;
    const die = (): void => void process.kill(process.pid, 'SIGKILL');
    this.#timer = setInterval(() => {
      const usedBytes = process.memoryUsage.rss();
      if (usedBytes <= this.limitBytes) return;
      this.stop();
      process.send?.({ id, step: { usedBytes, limitBytes: this.limitBytes } satisfies Step }, die);
    }, memoryCheckMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const settings = pixelSettingsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const team = new ThreadTeam(settings.maxMemoryBytes);
const warmUp = new WarmUp(() => cutOutDisc(team), settings.warmUpRounds);

process.on('message', (raw) => {
  const { success, data: message } = messageSchema.safeParse(raw);
  if (!success) return;
  if (message.type === 'prepare') {
    if (current === undefined) warmUp.resume();
    return;
  }
  if (message.type !== 'run') {
    if (current?.id !== message.id) return;
    if (message.type === 'continue') current.onReply(message.data);
    else {
      current.isCancelled = true;
      current.onCancel();
    }
    return;
  }
  const { id, job } = message;
  const conversation: Conversation = {
    id,
    isCancelled: false,
    onReply: () => undefined,
    onCancel: () => undefined,
  };
  current = conversation;
  warmUp.pause();
  const memory = new MemoryWatch(id, settings.maxMemoryBytes);
  run(job, conversation, memory)
    .then(
      (result) => send({ id, ok: true, result }),
      (error: unknown) => send({ id, ok: false, error: { message: String(error) } }),
    )
    .finally(() => {
      memory.stop();
      current = undefined;
    });
});

send({ type: 'ready' });
