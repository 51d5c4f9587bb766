import { afterHeader, chunksBeforePixels, pngChunk } from './png-chunks.js';
import type { RgbaImage } from './rgba-image.js';
import { sharp } from './sharp.js';

/** Chosen by measurement; see docs/internals/decisions-bg-removal.md. */
const compressionLevel = 3;
const inchesPerMetre = 1 / 0.0254;
const srgbChunk = pngChunk('sRGB', Buffer.of(0));

/**
 * A PNG in true colour with alpha that says it is sRGB. (`quality` or `effort` would silently make a
 * palette of 256 colours.)
 * @param density in pixels per inch; undefined when the upload states none
 */
export async function encodePng(
  { data, width, height }: RgbaImage,
  density: number | undefined,
): Promise<Uint8Array> {
  const png = await sharp(data, { raw: { width, height, channels: 4 }, limitInputPixels: false })
    .png({ compressionLevel, palette: false })
    .toBuffer();
  // libvips writes a density of its own invention.
  const parts: Uint8Array[] = [png.subarray(0, afterHeader), srgbChunk];
  if (density !== undefined) parts.push(pngChunk('pHYs', physicalSize(density)));
  let at = afterHeader;
  for (const { type, start, end } of chunksBeforePixels(png)) {
    if (type !== 'pHYs') continue;
    parts.push(png.subarray(at, start));
    at = end;
  }
  return Buffer.concat([...parts, png.subarray(at)]);
}

function physicalSize(density: number): Buffer {
  const data = Buffer.alloc(9);
  const pixelsPerMetre = Math.round(density * inchesPerMetre);
  data.writeUInt32BE(pixelsPerMetre, 0);
  data.writeUInt32BE(pixelsPerMetre, 4);
  data[8] = 1;
  return data;
}
