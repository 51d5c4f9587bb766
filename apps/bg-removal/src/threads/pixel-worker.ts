import { decodeForModel, decodeFull, readHeader } from '../images/decode.js';
import { encodePng } from '../images/encode.js';
import { cutOut } from '../matte/cut-out.js';
import { warmUp } from './warm-up.js';
import type { CutOutResult, CutOutTask, PixelTask, Prepared, PrepareTask } from './tasks.js';

warmUp();

/** What a pixel thread runs. */
export async function runPixelTask(task: PixelTask): Promise<Prepared | CutOutResult> {
  return task.kind === 'prepare' ? prepare(task) : makeCutOut(task);
}

async function prepare({ file, maxPixels, inputSize }: PrepareTask): Promise<Prepared> {
  const header = await readHeader(file, maxPixels);
  if ('code' in header) return { refusal: header };
  try {
    return { header, rgb: await decodeForModel(file, inputSize.width, inputSize.height) };
  } catch {
    // The header was right, so the pixels are damaged or cut off.
    return { refusal: { code: 'unreadable_image' } };
  }
}

async function makeCutOut(task: CutOutTask): Promise<CutOutResult> {
  const startedAt = performance.now();
  const image = await decodeFull(task.file);
  const decodedAt = performance.now();
  const mask = { data: task.mask, width: task.maskWidth, height: task.maskHeight };
  if (!cutOut(image, mask, task.tuning)) return { refusal: { code: 'no_foreground' } };
  const cutAt = performance.now();
  const png = await encodePng(image);
  return {
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
