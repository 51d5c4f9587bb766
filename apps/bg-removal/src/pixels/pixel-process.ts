import { z } from 'zod';
import { decodeForModel, decodeFull, refusalOf } from '../images/decode.js';
import { encodePng } from '../images/encode.js';
import { cutOut } from '../matte/cut-out.js';
import {
  pixelSettingsSchema,
  pixelTaskSchema,
  type CutOutResult,
  type CutOutTask,
  type PixelResult,
  type PixelSettings,
  type Prepared,
  type PrepareTask,
} from './task.js';
import { WarmUp } from './warm-up.js';

/**
 * Entry point of a pixel process, run under the engine supervisor: one image at a
 * time. Only the channel keeps it alive, so it ends when its parent goes.
 */
const runMessageSchema = z.object({ type: z.literal('run'), id: z.int(), job: pixelTaskSchema });
const cancelMessageSchema = z.object({ type: z.literal('cancel'), id: z.int() });

/** Between two looks at the memory in use while an image is in work. */
const memoryCheckMs = 50;

let cancelledId: number | undefined;

function send(message: object): void {
  process.send?.(message);
}

async function run(id: number, task: z.output<typeof pixelTaskSchema>): Promise<PixelResult> {
  return task.kind === 'prepare' ? prepare(task) : makeCutOut(task, () => cancelledId === id);
}

async function prepare({ file, limits, inputSize }: PrepareTask): Promise<Prepared> {
  const refusal = await refusalOf(file, limits);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const rgb = await decodeForModel(file, inputSize.width, inputSize.height);
  // The header was right, so the pixels are damaged or cut off.
  if (rgb === undefined) return { kind: 'refused', refusal: { code: 'damaged_pixels' } };
  return { kind: 'prepared', rgb };
}

async function makeCutOut(task: CutOutTask, isCancelled: () => boolean): Promise<CutOutResult> {
  const startedAt = performance.now();
  const image = await decodeFull(task.file);
  if (image === undefined) return { kind: 'refused', refusal: { code: 'damaged_pixels' } };
  if (isCancelled()) throw new Error('The image was given up.');
  const decodedAt = performance.now();
  const mask = { data: task.mask, width: task.maskWidth, height: task.maskHeight };
  if (!cutOut(image, mask, task.tuning)) return { kind: 'refused', refusal: { code: 'no_foreground' } };
  const cutAt = performance.now();
  const png = await encodePng(image);
  return {
    kind: 'cut-out',
    png,
    width: image.width,
    height: image.height,
    stages: {
      decode: decodedAt - startedAt,
      matte: cutAt - decodedAt,
      encode: performance.now() - cutAt,
    },
  };
}

/** Ends the process, native work and all, when an image takes more memory than any may. */
function watchMemory({ maxMemoryBytes }: PixelSettings): () => void {
  const timer = setInterval(() => {
    const bytes = process.memoryUsage.rss();
    if (bytes <= maxMemoryBytes) return;
    process.stderr.write(`an image took ${bytes} bytes of memory, at most ${maxMemoryBytes} may be in use\n`);
    process.kill(process.pid, 'SIGKILL');
  }, memoryCheckMs);
  return () => clearInterval(timer);
}

const settings = pixelSettingsSchema.parse(JSON.parse(process.argv[2] ?? '{}'));
const warmUp = new WarmUp();

process.on('message', (raw) => {
  const cancel = cancelMessageSchema.safeParse(raw);
  if (cancel.success) cancelledId = cancel.data.id;
  const message = runMessageSchema.safeParse(raw);
  if (!message.success) return;
  const { id, job } = message.data;
  warmUp.pause();
  const stopWatching = watchMemory(settings);
  run(id, job)
    .then(
      (result) => send({ id, ok: true, result }),
      (error: unknown) => send({ id, ok: false, error: { message: String(error) } }),
    )
    .finally(() => {
      stopWatching();
      warmUp.resume();
    });
});

send({ type: 'ready' });
warmUp.resume();
