/** Grey that replaces the upload's transparent areas in the network's input. */
export const neutralGrey = 128;

/** An upright image: interleaved 8-bit RGBA, sRGB, alpha not premultiplied. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The pixels as 32-bit words, alpha in the highest byte (all platforms of Node are little-endian). */
export function pixelWords({ data }: RgbaImage): Uint32Array {
  if (data.byteOffset % 4 === 0) return new Uint32Array(data.buffer, data.byteOffset, data.byteLength / 4);
  throw new Error('Pixels must start at a multiple of four bytes.');
}
