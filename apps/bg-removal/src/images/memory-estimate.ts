import type { OpenedImage } from './decode.js';
import { webpEffort } from './encode.js';
import type { Output } from './output.js';

/** A pixel process without an image. */
const processBytes = 110 * 1024 ** 2;
/** Grids, views and masks, whose size does not depend on the image's. */
const fixedBytes = 175 * 1024 ** 2;

/**
 * The most memory, in bytes, that a pixel process has while it works on an image: what was measured at
 * 9, 12 and 49 megapixels, rounded up (docs/internals/decisions-bg-removal.md).
 */
export function memoryEstimate(image: OpenedImage, output: Output): number {
  const pixels = image.size.width * image.size.height;
  const decoding = 8 + (image.decodesWhole ? 8 : 0);
  const matting = 8 + (image.hasAlpha ? 4 : 0);
  const perPixel = Math.max(decoding, matting + encodingBytes(pixels, output));
  return processBytes + fixedBytes + pixels * perPixel;
}

/** Bytes per pixel of the image. */
function encodingBytes(
  pixels: number,
  { format, cropMargin, maxWidth, maxHeight, channels }: Output,
): number {
  if (format === 'jpg') return 14;
  if (format === 'webp') return webpEffort(pixels) === 4 ? 24 : 20;
  const isCopied = cropMargin !== undefined || maxWidth !== undefined || maxHeight !== undefined;
  return isCopied || channels === 'alpha' ? 7 : 2;
}
