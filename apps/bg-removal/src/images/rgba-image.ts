import type { Rectangle } from './output.js';

/** Grey that replaces the upload's transparent areas in the network's input. */
export const neutralGrey = 128;

/** An upright image: interleaved 8-bit RGBA, sRGB, alpha not premultiplied. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A copy of a part of an image. */
export function cropped({ width, data }: RgbaImage, area: Rectangle): RgbaImage {
  const part = new Uint8Array(area.width * area.height * 4);
  for (let y = 0; y < area.height; y++) {
    const from = ((area.top + y) * width + area.left) * 4;
    part.set(data.subarray(from, from + area.width * 4), y * area.width * 4);
  }
  return { width: area.width, height: area.height, data: part };
}

/** The pixels as 32-bit words, alpha in the highest byte (all platforms of Node are little-endian). */
export function pixelWords({ data }: RgbaImage): Uint32Array {
  if (data.byteOffset % 4 === 0) return new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4);
  throw new Error('Pixels must start at a multiple of four bytes.');
}
