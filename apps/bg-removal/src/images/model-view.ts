/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { neutralGrey, pixelWords, type RgbaImage } from './rgba-image.js';
import { sharp } from './sharp.js';

/**
 * The network's view of an image: interleaved RGB over grey, resized to the input size without
 * keeping proportions. Large images are halved first, so that the resize filter reads a quarter
 * of the pixels.
 */
export async function viewForModel(image: RgbaImage, width: number, height: number): Promise<Uint8Array> {
  const isLarge = image.width >= 2 * width && image.height >= 2 * height;
  const source = isLarge ? halve(image) : image;
  const channels = isLarge ? 3 : 4;
  return sharp(source.data, {
    raw: { width: source.width, height: source.height, channels },
    limitInputPixels: false,
  })
    .flatten({ background: { r: neutralGrey, g: neutralGrey, b: neutralGrey } })
    .resize(width, height, { fit: 'fill', kernel: 'lanczos3' })
    .raw({ depth: 'uchar' })
    .toBuffer();
}

/** Halves an image to interleaved RGB over grey, with means of two by two pixels (fewer at odd borders). */
export function halve(image: RgbaImage): { width: number; height: number; data: Uint8Array } {
  const words = pixelWords(image);
  const width = Math.ceil(image.width / 2);
  const height = Math.ceil(image.height / 2);
  const data = new Uint8Array(width * height * 3);
  for (let y = 0, to = 0; y < height; y++) {
    const row = 2 * y * image.width;
    const down = 2 * y + 1 < image.height ? image.width : 0;
    for (let x = 0, at = row; x < width; x++, at += 2, to += 3) {
      const across = 2 * x + 1 < image.width ? 1 : 0;
      let a = words[at]! | 0;
      let b = words[at + across]! | 0;
      let c = words[at + down]! | 0;
      let d = words[at + down + across]! | 0;
      if ((a & b & c & d) >>> 24 !== 255) [a, b, c, d] = [overGrey(a), overGrey(b), overGrey(c), overGrey(d)];
      // Red and blue share a word, one in each half; the sum of four fits.
      const redAndBlue = (a & 0xff00ff) + (b & 0xff00ff) + (c & 0xff00ff) + (d & 0xff00ff) + 0x20002;
      const green = ((a >>> 8) & 255) + ((b >>> 8) & 255) + ((c >>> 8) & 255) + ((d >>> 8) & 255) + 2;
      data[to] = (redAndBlue & 0xffff) >>> 2;
      data[to + 1] = green >>> 2;
      data[to + 2] = redAndBlue >>> 18;
    }
  }
  return { width, height, data };
}

function overGrey(word: number): number {
  const alpha = word >>> 24;
  const blend = (value: number): number => neutralGrey + ((value - neutralGrey) * alpha) / 255 + 0.5;
  return blend(word & 255) | (blend((word >>> 8) & 255) << 8) | (blend((word >>> 16) & 255) << 16);
}
