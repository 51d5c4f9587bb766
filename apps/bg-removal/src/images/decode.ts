import type { RgbaImage } from './rgba-image.js';
import type { Sharp, SharpOptions } from 'sharp';
import { sharp } from './sharp.js';

/** Grey that stands in for what is transparent in the upload when the network looks at it. */
const neutral = { r: 128, g: 128, b: 128 };

/** Why an upload cannot be used; crosses a thread border, hence a plain value. */
export type Refusal =
  | { readonly code: 'unreadable_image' }
  | { readonly code: 'image_too_large'; readonly width: number; readonly height: number };

export interface ImageHeader {
  /** Size of the upright image. */
  readonly width: number;
  readonly height: number;
}

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
 * Reads the size from the header and refuses too many pixels before any is decoded.
 * @returns a refusal in place of the header when the image cannot be used
 */
export async function readHeader(file: Uint8Array, maxPixels: number): Promise<ImageHeader | Refusal> {
  try {
    const { autoOrient } = await sharp(file, options()).metadata();
    const { width, height } = autoOrient;
    if (width * height > maxPixels) return { code: 'image_too_large', width, height };
    return { width, height };
  } catch {
    // Whatever the decoder says of a broken header, the client only needs to know that it is broken.
    return { code: 'unreadable_image' };
  }
}

/** The network's view: interleaved RGB, squashed to its input size with a filter. */
export async function decodeForModel(file: Uint8Array, width: number, height: number): Promise<Uint8Array> {
  const { data } = await normalised(file)
    .flatten({ background: neutral })
    .resize(width, height, { fit: 'fill', kernel: 'lanczos3' })
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return data;
}

/** Every pixel, with the image's own alpha. */
export async function decodeFull(file: Uint8Array): Promise<RgbaImage> {
  const { data, info } = await normalised(file)
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}
