import { DomainError, InvalidRequestError } from '@media-services/http-common';
import type { MattingEngine } from './inference/matting-engine.js';
import type { FairTurns } from './fair-turns.js';
import type { ImageLimits } from './images/image-limits.js';
import { imageTypeOf } from './images/image-type.js';
import { formats, type ImageOutput, type Output, type Rectangle } from './images/output.js';
import { LargeImageError, type PixelPool } from './pixels/pixel-pool.js';
import type { GivenTuning, Mask, Rejection, View } from './pixels/task.js';

export interface RemoveBackgroundDependencies {
  readonly engine: Pick<MattingEngine, 'assertReady' | 'inputSize' | 'run'>;
  readonly pixels: Pick<PixelPool, 'run'>;
  readonly turns: FairTurns;
  /** For large images, which need a turn here first. Fewer than processes, so that other images never wait for them alone. */
  readonly largeTurns: FairTurns;
  readonly limits: ImageLimits;
}

export interface RemoveBackgroundRequest {
  /** The client whose turn the work uses. */
  readonly client: string;
  readonly file: Uint8Array;
  readonly tuning: GivenTuning;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Receives the milliseconds of every stage. */
  readonly onStage: (stage: string, milliseconds: number) => void;
}

export interface CutOutImage {
  readonly image: ImageOutput;
  readonly subject: Rectangle;
}

/** An image was rejected by its header. Nothing was decoded, so it cost almost nothing. */
export class HeaderRejectionError extends DomainError {
  override readonly name = 'HeaderRejectionError';
}

/** An image was rejected after it was cut out, which cost as much as a result. */
export class RejectedAfterWorkError extends InvalidRequestError {}

/**
 * Turns an uploaded file into its cut-out.
 * @throws DomainError with one of the codes of bg-removal
 * @throws the signal's reason
 */
export async function removeBackground(
  dependencies: RemoveBackgroundDependencies,
  request: RemoveBackgroundRequest,
): Promise<CutOutImage> {
  const { turns, largeTurns } = dependencies;
  const { client, file, signal, onStage } = request;
  imageTypeOf(file);
  const inTurn = (mayBeLarge: boolean): Promise<CutOutImage> => {
    const arrivedAt = performance.now();
    return turns.run(client, signal, () => {
      onStage('queue', performance.now() - arrivedAt);
      return work(dependencies, request, mayBeLarge);
    });
  };
  try {
    return await inTurn(false);
  } catch (error) {
    if (!(error instanceof LargeImageError)) throw error;
    return largeTurns.run(client, signal, () => inTurn(true));
  }
}

async function work(
  { engine, pixels, limits }: RemoveBackgroundDependencies,
  { file, tuning, output, signal, onStage }: RemoveBackgroundRequest,
  mayBeLarge: boolean,
): Promise<CutOutImage> {
  const { inputSize } = engine;
  const reportStages = (stages: Readonly<Record<string, number>>): void => {
    for (const [stage, milliseconds] of Object.entries(stages)) onStage(stage, milliseconds);
  };
  const maskOf = async ({ rgb, stages }: View): Promise<Mask> => {
    reportStages(stages);
    const queuedAt = performance.now();
    const { inferenceMs, ...mask } = await engine.run({ rgb }, signal);
    onStage('queue', performance.now() - queuedAt - inferenceMs);
    onStage('inference', inferenceMs);
    return mask;
  };
  const task = { file, limits, inputSize, tuning, output };
  const result = await pixels.run(task, maskOf, signal, mayBeLarge);
  if (result.kind === 'rejected') throw rejectionError(result.rejection, limits, output);
  reportStages(result.stages);
  return result;
}

function rejectionError(
  rejection: Rejection,
  { maxPixels, maxSide }: ImageLimits,
  { format }: Output,
): DomainError {
  switch (rejection.code) {
    case 'image_too_large':
      return new HeaderRejectionError(
        'image_too_large',
        `The image has ${rejection.width} × ${rejection.height} pixels. The limits are ${maxPixels} pixels in total and ${maxSide} per side. Scale it down.`,
      );
    case 'too_many_scans':
      return new HeaderRejectionError(
        'unreadable_image',
        `The JPEG has ${rejection.scans} scans. The limit at this size is ${rejection.maxScans}. Open the image and save it again.`,
      );
    case 'unreadable_header':
      return new HeaderRejectionError('unreadable_image', damaged);
    case 'damaged_pixels':
      return new DomainError('unreadable_image', damaged);
    case 'too_large_for_format': {
      const message = `must not be ${format} for more than ${formats[format].maxSide} pixels per side; use png, or max_width and max_height`;
      const fields = [{ field: 'format', message }];
      return rejection.isCutOut ? new RejectedAfterWorkError(fields) : new InvalidRequestError(fields);
    }
    case 'needs_too_much_memory': {
      const [needed, most] = [rejection.neededBytes, rejection.maxBytes].map((bytes) =>
        Math.ceil(bytes / 1024 ** 2),
      );
      return new HeaderRejectionError(
        'image_too_large',
        `The image needs ${needed} MiB of memory in this format; this server has ${most} for one image. Scale it down, or ask for a PNG. If you run this server: give the container more memory.`,
      );
    }
    case 'no_foreground':
      return new DomainError(
        'no_foreground',
        'No subject stands out from the background. Use an image with a clear subject, or crop it closer to the subject.',
      );
  }
}

const damaged = 'The image is damaged or incomplete. Save it again and send the whole file.';
