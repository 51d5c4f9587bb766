import type { RgbaImage } from './rgba-image.js';
import { sharp } from './sharp.js';

/** Chosen by measurement; see docs/internals/decisions-bg-removal.md. */
const compressionLevel = 3;

/** A PNG in true colour with alpha. (`quality` or `effort` would silently make a palette of 256 colours.) */
export async function encodePng({ data, width, height }: RgbaImage): Promise<Uint8Array> {
  return sharp(data, { raw: { width, height, channels: 4 }, limitInputPixels: false })
    .png({ compressionLevel, palette: false })
    .toBuffer();
}
