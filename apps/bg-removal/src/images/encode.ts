import type { Sharp } from 'sharp';
import { formats, type ImageOutput, type Output, type Rectangle } from './output.js';
import { pixelWords, type RgbaImage } from './rgba-image.js';
import { sharp } from './sharp.js';
import { writePng, type Raster } from './write-png.js';

/**
 * From its fourth level of effort on, libwebp encodes a copy of the alpha at the same time. In large
 * images it would not fit; without it, files are about a tenth larger.
 */
export const webpEffort = (pixels: number): number => (pixels > 16_000_000 ? 3 : 4);

/** Quality of JPEG and of WebP colours; WebP's alpha is lossless. */
const quality = 90;

/**
 * Encodes a cut-out in the requested form. May modify `image`.
 * @returns undefined if it would be larger than its format allows
 */
export async function encode(
  image: RgbaImage,
  output: Output,
  subject: Rectangle,
  density: number | undefined,
): Promise<ImageOutput | undefined> {
  const { background } = output;
  if (background !== undefined) paintBehind(image, background);
  // JPEG has no alpha: white shows through a missing or translucent background.
  if (output.format === 'jpg') paintBehind(image, opaqueWhite);
  const { cropMargin, maxWidth, maxHeight, format } = output;
  const area = cropMargin === undefined ? undefined : grow(subject, cropMargin, image);
  if (exceedsFormat(output, area ?? image)) return undefined;
  const { width, height } = fittingSize(area ?? image, maxWidth, maxHeight);
  const resized = width !== (area ?? image).width || height !== (area ?? image).height;
  const size = { width, height };
  if (format === 'png' && area === undefined && !resized && output.channels === 'rgba') {
    const filled = background === undefined ? subject : undefined;
    const bytes = await writePng({ ...image, channels: 4 }, density, filled);
    return { bytes, format, ...size };
  }
  let pipeline = sharp(image.data, {
    raw: { width: image.width, height: image.height, channels: 4 },
    limitInputPixels: false,
  });
  if (output.channels === 'alpha') pipeline = pipeline.extractChannel('alpha').toColourspace('b-w');
  if (area !== undefined) pipeline = pipeline.extract(area);
  if (resized) pipeline = pipeline.resize(width, height, { fit: 'fill', kernel: 'lanczos3' });
  return { bytes: await write(pipeline, format, density, webpEffort(width * height)), format, ...size };
}

type Colour = NonNullable<Output['background']>;
const opaqueWhite: Colour = [255, 255, 255, 255];

async function write(
  pipeline: Sharp,
  format: Output['format'],
  density: number | undefined,
  effort: number,
): Promise<Uint8Array> {
  switch (format) {
    case 'png':
      return writePng(await rasterOf(pipeline), density);
    case 'webp':
      return pipeline.webp({ quality, alphaQuality: 100, effort }).toBuffer();
    case 'jpg':
      return pipeline.removeAlpha().jpeg({ quality, chromaSubsampling: '4:4:4' }).toBuffer();
  }
}

/** Paints a colour behind the image; both may be translucent. */
function paintBehind(image: RgbaImage, [red, green, blue, opacity]: Colour): void {
  const words = pixelWords(image);
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    const alpha = word >>> 24;
    if (alpha === 255) continue;
    const behind = (opacity * (255 - alpha)) / 255;
    const total = alpha + behind;
    if (total === 0) continue;
    const mix = (front: number, back: number): number => Math.round((front * alpha + back * behind) / total);
    words[at] =
      (mix(word & 255, red) |
        (mix((word >>> 8) & 255, green) << 8) |
        (mix((word >>> 16) & 255, blue) << 16) |
        (Math.round(total) << 24)) >>>
      0;
  }
}

/** Adds a margin on all sides, limited by the image. A percentage refers to the subject's size. */
function grow(
  subject: Rectangle,
  { value, unit }: NonNullable<Output['cropMargin']>,
  image: RgbaImage,
): Rectangle {
  const across = Math.round(unit === 'px' ? value : (subject.width * value) / 100);
  const down = Math.round(unit === 'px' ? value : (subject.height * value) / 100);
  const left = Math.max(0, subject.left - across);
  const top = Math.max(0, subject.top - down);
  const right = Math.min(image.width, subject.left + subject.width + across);
  const bottom = Math.min(image.height, subject.top + subject.height + down);
  return { left, top, width: right - left, height: bottom - top };
}

/** Whether a result of this size, scaled down as requested, is larger than its format allows. */
export function exceedsFormat({ format, maxWidth, maxHeight }: Output, uncropped: Size): boolean {
  const { width, height } = fittingSize(uncropped, maxWidth, maxHeight);
  return Math.max(width, height) > formats[format].maxSide;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Scales a size down proportionally to fit the limits. */
function fittingSize({ width, height }: Size, maxWidth = width, maxHeight = height): Size {
  const scale = Math.min(1, maxWidth / width, maxHeight / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

async function rasterOf(pipeline: Sharp): Promise<Raster> {
  const { data, info } = await pipeline.raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, channels: info.channels === 1 ? 1 : 4, data };
}
