import { z } from 'zod';
import { decodeFull, openImage } from '../images/decode.js';
import { encode, exceedsFormat } from '../images/encode.js';
import { findSubject } from '../matte/find-subject.js';
import type { Plane } from '../matte/plane.js';
import { createLook } from '../matte/surroundings.js';
import { defaultTuning, neutralTuning } from '../matte/tuning.js';
import {
  maskSchema,
  pixelSettingsSchema,
  pixelTaskSchema,
  type Mask,
  type PixelResult,
  type PixelSettings,
  type PixelTask,
  type View,
} from './task.js';
import { ThreadTeam } from './thread-team.js';
import { cutOutDisc, WarmUp } from './warm-up.js';

/**
 * Entry point of a pixel process, run by the engine supervisor. Processes one image at a time.
 * Only the IPC channel keeps it alive, so it ends with its parent.
 */
const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run'), id: z.int(), job: pixelTaskSchema }),
  z.object({ type: z.literal('continue'), id: z.int(), data: maskSchema }),
  z.object({ type: z.literal('cancel'), id: z.int() }),
  z.object({ type: z.literal('prepare') }),
]);

/** Interval between memory checks while processing an image. */
const memoryCheckMs = 50;

/** Messages from the parent about the current image. */
interface Conversation {
  readonly id: number;
  isCancelled: boolean;
  onMask: (mask: Mask) => void;
  onCancel: () => void;
}
let current: Conversation | undefined;

function send(message: object): void {
  process.send?.(message);
}

/** Sends the view to the parent and waits for its mask. */
async function maskOf(view: View, conversation: Conversation): Promise<Plane> {
  const { mask, width, height } = await new Promise<Mask>((resolve, reject) => {
    conversation.onMask = resolve;
    conversation.onCancel = () => reject(new Error('The image was cancelled.'));
    send({ id: conversation.id, step: view });
  });
  return { data: mask, width, height };
}

/** Decodes once, and keeps the pixels while the network processes its views. */
async function run(
  { file, limits, inputSize, tuning, output, refineSmallSubjects }: PixelTask,
  conversation: Conversation,
): Promise<PixelResult> {
  const clock = stopwatch();
  const opened = await openImage(file, limits);
  if ('rejection' in opened) return { kind: 'rejected', rejection: opened.rejection };
  // The size of a crop is known only once the subject is.
  if (output.cropMargin === undefined && exceedsFormat(output, opened.size))
    return { kind: 'rejected', rejection: { code: 'too_large_for_format', isCutOut: false } };
  const decoded = await decodeFull(opened);
  // The header is valid, so the pixels are damaged or incomplete.
  if (decoded === undefined) return { kind: 'rejected', rejection: { code: 'damaged_pixels' } };
  const decode = clock();
  const shared = await team.begin(decoded, opened.hasAlpha);
  const { image } = shared;
  let stages: View['stages'] = { decode };
  const network = async (rgb: Uint8Array): Promise<Plane> => {
    stages = { ...stages, prepare: clock() };
    const seen = await maskOf({ rgb, stages }, conversation);
    stages = {};
    clock();
    return seen;
  };
  const look = createLook(inputSize, (area, size) => shared.view(area, size), network);
  const { isOpaque } = shared;
  const found = await findSubject(image, { isOpaque, refineSmallSubjects }, look);
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

/** Kills the process, including native work, if an image takes more memory than allowed. */
function watchMemory({ maxMemoryBytes }: PixelSettings): () => void {
  const timer = setInterval(() => {
    const bytes = process.memoryUsage.rss();
    if (bytes <= maxMemoryBytes) return;
    process.stderr.write(`an image used ${bytes} bytes of memory; the limit is ${maxMemoryBytes}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, memoryCheckMs);
  return () => clearInterval(timer);
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
    if (message.type === 'continue') current.onMask(message.data);
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
    onMask: () => undefined,
    onCancel: () => undefined,
  };
  current = conversation;
  warmUp.pause();
  const stopWatching = watchMemory(settings);
  run(job, conversation)
    .then(
      (result) => send({ id, ok: true, result }),
      (error: unknown) => send({ id, ok: false, error: { message: String(error) } }),
    )
    .finally(() => {
      stopWatching();
      current = undefined;
    });
});

send({ type: 'ready' });
