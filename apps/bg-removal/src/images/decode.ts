import type { SharpOptions } from 'sharp';
import type { ImageLimits, ImageRefusal } from './image-limits.js';
import { imageTypeOf } from './image-type.js';
import { countJpegScans } from './jpeg-scans.js';
import { withStatedColours } from './png-colours.js';
import type { RgbaImage } from './rgba-image.js';
import { isFaultOfImage } from './sharp-failure.js';
import { sharp } from './sharp.js';

/** What libvips reports where a file states no density. */
const unstatedDensity = 72;

/** Only the first frame; damaged or incomplete files are errors, harmless oddities are not. */
function options(): SharpOptions {
  // The size is checked from the header beforehand, against the service's own limit.
  return { failOn: 'error', limitInputPixels: false, pages: 1, sequentialRead: true };
}

/** An image that its header does not reject, ready to be decoded. */
export interface OpenedImage {
  readonly file: Uint8Array;
  /** 16 bits a channel and a profile, which sharp does not convert right. */
  readonly isDeepWithProfile: boolean;
  /** Pixels per inch, where the file says so. */
  readonly density: number | undefined;
}

/**
 * Reads the header alone. Rejects too many pixels, a side that is too long, and a JPEG with too many passes.
 * @throws Error when sharp fails through no fault of the image
 */
export async function openImage(
  file: Uint8Array,
  limits: ImageLimits,
): Promise<OpenedImage | { readonly refusal: ImageRefusal }> {
  const type = imageTypeOf(file);
  const metadata = await unlessDamaged(() => sharp(file, options()).metadata());
  if (metadata === undefined) return { refusal: { code: 'unreadable_header' } };
  const { width, height } = metadata.autoOrient;
  const pixels = width * height;
  if (pixels > limits.maxPixels || Math.max(width, height) > limits.maxSide) {
    return { refusal: { code: 'image_too_large', width, height } };
  }
  if (type === 'jpeg') {
    const scans = countJpegScans(file);
    const maxScans = Math.min(limits.maxScans, Math.max(1, Math.floor(limits.maxScannedPixels / pixels)));
    if (scans > maxScans) return { refusal: { code: 'too_many_scans', scans, maxScans } };
  }
  const coloured = type === 'png' ? withStatedColours(file) : file;
  const { density, depth } = metadata;
  const hasProfile = metadata.icc !== undefined || coloured !== file;
  return {
    file: coloured,
    isDeepWithProfile: hasProfile && depth === 'ushort',
    density: density === unstatedDensity ? undefined : density,
  };
}

/**
 * Every pixel, upright, 8-bit sRGB whatever the file's profile, depth or colour space, with the image's own
 * alpha; undefined when the file is damaged.
 * @throws Error when sharp fails through no fault of the image
 */
export async function decodeFull({ file, isDeepWithProfile }: OpenedImage): Promise<RgbaImage | undefined> {
  return unlessDamaged(async () => {
    const source = isDeepWithProfile ? await withEightBits(file) : file;
    const { data, info } = await sharp(source, options())
      .autoOrient()
      .toColourspace('srgb')
      .ensureAlpha()
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return { width: info.width, height: info.height, data };
  });
}

/** Sharp converts 16-bit colours to Display P3 instead of sRGB, and ignores the profile of 16-bit grey. */
async function withEightBits(file: Uint8Array): Promise<Uint8Array> {
  const deep = sharp(file, { ...options(), ignoreIcc: true });
  const isGrey = (await deep.metadata()).space === 'grey16';
  return deep
    .autoOrient()
    .toColourspace(isGrey ? 'b-w' : 'srgb')
    .keepIccProfile()
    .png({ compressionLevel: 1 })
    .toBuffer();
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
