import { DomainError } from '@media-services/http-common';
import type { MattingEngine } from './inference/matting-engine.js';
import type { Refusal } from './images/decode.js';
import { imageTypeOf } from './images/image-type.js';
import type { Tuning } from './matte/tuning.js';
import type { PixelPool } from './threads/pixel-pool.js';

export interface RemoveBackgroundDependencies {
  readonly engine: Pick<MattingEngine, 'inputSize' | 'run'>;
  readonly pixels: PixelPool;
  readonly maxPixels: number;
}

export interface RemoveBackgroundRequest {
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
  { engine, pixels, maxPixels }: RemoveBackgroundDependencies,
  { file, tuning, signal, onStage }: RemoveBackgroundRequest,
): Promise<CutOutImage> {
  imageTypeOf(file);

  const preparedAt = performance.now();
  const prepared = await pixels.prepare({ file, maxPixels, inputSize: engine.inputSize }, signal);
  onStage('prepare', performance.now() - preparedAt);
  if ('refusal' in prepared) throw refusalError(prepared.refusal, maxPixels);

  const queuedAt = performance.now();
  const { mask, width, height, inferenceMs } = await engine.run({ rgb: prepared.rgb }, signal);
  onStage('queue', performance.now() - queuedAt - inferenceMs);
  onStage('inference', inferenceMs);

  const result = await pixels.cutOut({ file, mask, maskWidth: width, maskHeight: height, tuning }, signal);
  if ('refusal' in result) throw refusalError(result.refusal, maxPixels);
  for (const [stage, milliseconds] of Object.entries(result.stages)) onStage(stage, milliseconds);
  return result;
}

function refusalError(refusal: Refusal | { readonly code: 'no_foreground' }, maxPixels: number): DomainError {
  switch (refusal.code) {
    case 'image_too_large':
      return new DomainError(
        refusal.code,
        `The image has ${refusal.width} × ${refusal.height} pixels; at most ${maxPixels} are accepted. Scale it down.`,
      );
    case 'unreadable_image':
      return new DomainError(
        refusal.code,
        'The image is damaged or cut off and cannot be decoded. Save it again and send it whole.',
      );
    case 'no_foreground':
      return new DomainError(
        refusal.code,
        'No subject was found that stands out from the background. Use an image with a clear subject.',
      );
  }
}
