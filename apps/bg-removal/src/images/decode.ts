import type { SharpOptions } from 'sharp';
import { countJpegScans, type ImageLimits, type ImageRejection } from './image-limits.js';
import { imageTypeOf } from './image-type.js';
import { addIccProfile, statesOnlyRatio } from './png-colours.js';
import type { RgbaImage } from './rgba-image.js';
import { isImageFault, sharp } from './sharp.js';

/** libvips reports this if a file has no density. */
const defaultDensity = 72;
/** What a PNG can state: pixels per metre in 32 bits. */
const maxDensity = 0xffff_ffff * 0.0254;

/** Reads only the first frame. Damaged or incomplete files are errors; harmless deviations are not. */
function options(): SharpOptions {
  // We already check the size in the header against our own limit.
  return { failOn: 'error', limitInputPixels: false, pages: 1, sequentialRead: true };
}

/** An image whose header passed the checks, ready to be decoded. */
export interface OpenedImage {
  readonly file: Uint8Array;
  /** Of the upright image. */
  readonly size: { readonly width: number; readonly height: number };
  /** Pixels may not be opaque. */
  readonly hasAlpha: boolean;
  /** Has 16 bits per channel and a profile, which sharp converts incorrectly. */
  readonly isDeepWithProfile: boolean;
  /** Inks without a profile that says how they look. */
  readonly isPlainCmyk: boolean;
  /** The decoder keeps all pixels: interlaced, progressive, rotated, deep, or a WebP. */
  readonly decodesWhole: boolean;
  /** Pixels per inch, if stated in the file. */
  readonly density: number | undefined;
  /** `one-scan` if all of it is in one part, so that none can be missing after it. */
  readonly jpeg: 'one-scan' | 'scans' | undefined;
}

/**
 * Reads only the header. Rejects too many pixels, a side that is too long, and a JPEG with too
 * many scans.
 * @throws Error if sharp fails for a reason other than the image
 */
export async function openImage(
  file: Uint8Array,
  limits: ImageLimits,
): Promise<OpenedImage | { readonly rejection: ImageRejection }> {
  const type = imageTypeOf(file);
  const metadata = await unlessDamaged(() => sharp(file, options()).metadata());
  if (metadata === undefined) return { rejection: { code: 'unreadable_header' } };
  const { width, height } = metadata.autoOrient;
  const pixels = width * height;
  if (pixels > limits.maxPixels || Math.max(width, height) > limits.maxSide) {
    return { rejection: { code: 'image_too_large', width, height } };
  }
  let jpeg: OpenedImage['jpeg'];
  if (type === 'jpeg') {
    const scans = countJpegScans(file);
    jpeg = scans === 1 && !metadata.isProgressive ? 'one-scan' : 'scans';
    const maxScans = Math.min(limits.maxScans, Math.max(1, Math.floor(limits.maxScannedPixels / pixels)));
    if (scans > maxScans) return { rejection: { code: 'too_many_scans', scans, maxScans } };
  }
  const coloured = type === 'png' ? addIccProfile(file) : file;
  const { density = defaultDensity, depth } = metadata;
  const hasDensity = density !== defaultDensity && density >= 1 && density < maxDensity;
  const hasProfile = metadata.icc !== undefined || coloured !== file;
  return {
    file: coloured,
    size: { width, height },
    hasAlpha: metadata.hasAlpha,
    isDeepWithProfile: hasProfile && depth === 'ushort',
    isPlainCmyk: metadata.space === 'cmyk' && !hasProfile,
    decodesWhole:
      type === 'webp' || metadata.isProgressive || depth === 'ushort' || (metadata.orientation ?? 1) > 1,
    density: hasDensity && !(type === 'png' && statesOnlyRatio(file)) ? density : undefined,
    jpeg,
  };
}

/** libjpeg only warns about these, and paints the rest of the image grey. */
const missingPixels = /premature end of data segment|bad Huffman code|instead of RST/;
const missingEnd = /premature end of JPEG image/i;
const endOfImage = Buffer.from([0xff, 0xd9]);

/**
 * Decodes all pixels, upright and in 8-bit sRGB for any profile, depth or colour space, with
 * the image's own alpha. Returns undefined if the file is damaged.
 * @throws Error if sharp fails for a reason other than the image
 */
export async function decodeFull(image: OpenedImage): Promise<RgbaImage | undefined> {
  const { file, jpeg } = image;
  const decode = image.isPlainCmyk ? decodeCmyk : decodeColours;
  return unlessDamaged(async () => {
    if (image.isDeepWithProfile) return decode(await reduceToEightBits(file), options());
    if (jpeg === undefined) return decode(file, options());
    const strict: SharpOptions = { ...options(), failOn: 'warning' };
    try {
      return await decode(file, strict);
    } catch (error) {
      if (!isImageFault(error) || missingPixels.test(error.message)) throw error;
      // Some programs leave out the marker at the end.
      if (jpeg === 'one-scan' && missingEnd.test(error.message))
        return decode(Buffer.concat([file, endOfImage]), strict);
      return decode(file, options());
    }
  });
}

async function decodeColours(file: Uint8Array, sharpOptions: SharpOptions): Promise<RgbaImage> {
  const { data, info } = await sharp(file, sharpOptions)
    .autoOrient()
    .toColourspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Mixes inks as browsers do. libvips would assume a press, whose colours are duller. */
async function decodeCmyk(file: Uint8Array, sharpOptions: SharpOptions): Promise<RgbaImage> {
  const { data, info } = await sharp(file, sharpOptions)
    .pipelineColourspace('cmyk')
    .autoOrient()
    .toColourspace('cmyk')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  for (let at = 0; at < data.length; at += 4) {
    const light = 255 - (data[at + 3] ?? 0);
    for (let c = at; c < at + 3; c++) data[c] = Math.round(((255 - (data[c] ?? 0)) * light) / 255);
    data[at + 3] = 255;
  }
  return { width: info.width, height: info.height, data };
}

/** Sharp converts 16-bit colours to Display P3 instead of sRGB, and ignores the profile of 16-bit grey. */
async function reduceToEightBits(file: Uint8Array): Promise<Uint8Array> {
  const deep = sharp(file, { ...options(), ignoreIcc: true });
  const isGrey = (await deep.metadata()).space === 'grey16';
  // Not upright yet: rotated pixels sometimes lose their profile. `decodeFull` rotates, by Exif.
  return deep
    .toColourspace(isGrey ? 'b-w' : 'srgb')
    .keepIccProfile()
    .keepExif()
    .png({ compressionLevel: 1 })
    .toBuffer();
}

async function unlessDamaged<T>(decode: () => Promise<T>): Promise<T | undefined> {
  try {
    return await decode();
  } catch (error) {
    // The client only needs to know that the file is damaged, not the decoder's message.
    if (isImageFault(error)) return undefined;
    throw error;
  }
}
