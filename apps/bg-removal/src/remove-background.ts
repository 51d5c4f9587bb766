import { DomainError } from '@media-services/http-common';
import type { MattingEngine } from './inference/matting-engine.js';
import type { FairTurns } from './fair-turns.js';
import type { ImageLimits } from './images/image-limits.js';
import { imageTypeOf } from './images/image-type.js';
import type { Tuning } from './matte/tuning.js';
import type { PixelPool } from './pixels/pixel-pool.js';
import type { Refusal } from './pixels/task.js';

export interface RemoveBackgroundDependencies {
  readonly engine: Pick<MattingEngine, 'inputSize' | 'run'>;
  readonly pixels: Pick<PixelPool, 'prepare' | 'cutOut'>;
  readonly turns: FairTurns;
  readonly limits: ImageLimits;
}

export interface RemoveBackgroundRequest {
  /** Whose turn the work is done in. */
  readonly client: string;
  readonly file: Uint8Array;
  readonly tuning: Tuning;
  readonly signal: AbortSignal;
  /** Told the milliseconds of every stage. */
  readonly onStage: (stage: string, milliseconds: number) => void;
}

export interface CutOutImage {
  readonly png: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * The whole way from an uploaded file to its cut-out.
 * @throws DomainError with one of the codes of bg-removal
 * @throws the signal's reason
 */
export async function removeBackground(
  dependencies: RemoveBackgroundDependencies,
  request: RemoveBackgroundRequest,
): Promise<CutOutImage> {
  const { client, file, signal, onStage } = request;
  imageTypeOf(file);
  const arrivedAt = performance.now();
  return dependencies.turns.run(client, signal, () => {
    onStage('queue', performance.now() - arrivedAt);
    return work(dependencies, request);
  });
}

async function work(
  { engine, pixels, limits }: RemoveBackgroundDependencies,
  { file, tuning, signal, onStage }: RemoveBackgroundRequest,
): Promise<CutOutImage> {
  const preparedAt = performance.now();
  const prepared = await pixels.prepare({ file, limits, inputSize: engine.inputSize }, signal);
  onStage('prepare', performance.now() - preparedAt);
  if (prepared.kind === 'refused') throw refusalError(prepared.refusal, limits);

  const queuedAt = performance.now();
  const { mask, width, height, inferenceMs } = await engine.run({ rgb: prepared.rgb }, signal);
  onStage('queue', performance.now() - queuedAt - inferenceMs);
  onStage('inference', inferenceMs);

  const result = await pixels.cutOut({ file, mask, maskWidth: width, maskHeight: height, tuning }, signal);
  if (result.kind === 'refused') throw refusalError(result.refusal, limits);
  for (const [stage, milliseconds] of Object.entries(result.stages)) onStage(stage, milliseconds);
  return result;
}

function refusalError(refusal: Refusal, { maxPixels, maxSide }: ImageLimits): DomainError {
  switch (refusal.code) {
    case 'image_too_large':
      return new DomainError(
        'image_too_large',
        `The image has ${refusal.width} × ${refusal.height} pixels; at most ${maxPixels} are accepted, and ${maxSide} on a side. Scale it down.`,
      );
    case 'too_many_scans':
      return new DomainError(
        'unreadable_image',
        `The JPEG is made of ${refusal.scans} scans; at this size at most ${refusal.maxScans} are read. Open and save the image again.`,
      );
    case 'unreadable_image':
      return new DomainError(
        'unreadable_image',
        'The image is damaged or cut off and cannot be decoded. Save it again and send it whole.',
      );
    case 'no_foreground':
      return new DomainError(
        'no_foreground',
        'No subject was found that stands out from the background. Use an image with a clear subject.',
      );
  }
}
