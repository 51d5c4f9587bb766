import type { Sharp, SharpOptions } from 'sharp';
import type { ImageLimits, ImageRefusal } from './image-limits.js';
import { imageTypeOf } from './image-type.js';
import { countJpegScans } from './jpeg-scans.js';
import { neutralGrey, type RgbaImage } from './rgba-image.js';
import { isFaultOfImage } from './sharp-failure.js';
import { sharp } from './sharp.js';

const neutral = { r: neutralGrey, g: neutralGrey, b: neutralGrey };

/** Only the first frame; damaged or cut files are errors, harmless oddities are not. */
function options(): SharpOptions {
  // The size is checked from the header beforehand, against the service's own limit.
  return { failOn: 'error', limitInputPixels: false, pages: 1, sequentialRead: true };
}

/** Upright, 8-bit sRGB whatever the profile, depth or colour space of the file. */
function normalised(file: Uint8Array): Sharp {
  return sharp(file, options()).autoOrient().toColourspace('srgb');
}

/**
 * What a header alone tells against an image, before any of it is decoded: too many
 * pixels, a side that is too long, a JPEG that asks for too many passes.
 * @throws Error when sharp fails through no fault of the image
 */
export async function refusalOf(file: Uint8Array, limits: ImageLimits): Promise<ImageRefusal | undefined> {
  const size = await unlessDamaged(async () => (await sharp(file, options()).metadata()).autoOrient);
  if (size === undefined) return { code: 'unreadable_header' };
  const { width, height } = size;
  const pixels = width * height;
  if (pixels > limits.maxPixels || Math.max(width, height) > limits.maxSide) {
    return { code: 'image_too_large', width, height };
  }
  if (imageTypeOf(file) !== 'jpeg') return undefined;
  const scans = countJpegScans(file);
  const maxScans = Math.min(limits.maxScans, Math.max(1, Math.floor(limits.maxScannedPixels / pixels)));
  return scans > maxScans ? { code: 'too_many_scans', scans, maxScans } : undefined;
}

/**
 * The network's view: interleaved RGB, squashed to its input size with a filter;
 * undefined when the file is damaged.
 * @throws Error when sharp fails through no fault of the image
 */
export async function decodeForModel(
  file: Uint8Array,
  width: number,
  height: number,
): Promise<Uint8Array | undefined> {
  return unlessDamaged(() =>
    normalised(file)
      .flatten({ background: neutral })
      .resize(width, height, { fit: 'fill', kernel: 'lanczos3' })
      .raw({ depth: 'uchar' })
      .toBuffer(),
  );
}

/**
 * Every pixel, with the image's own alpha; undefined when the file is damaged.
 * @throws Error when sharp fails through no fault of the image
 */
export async function decodeFull(file: Uint8Array): Promise<RgbaImage | undefined> {
  return unlessDamaged(async () => {
    const { data, info } = await normalised(file)
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  });
}

async function unlessDamaged<T>(decode: () => Promise<T>): Promise<T | undefined> {
  try {
    return await decode();
  } catch (error) {
    // Whatever the decoder says of a broken file, the client only needs to know that it is broken.
    if (isFaultOfImage(error)) return undefined;
    throw error;
  }
}
