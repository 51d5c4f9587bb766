/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { neutralGrey, pixelWords, type RgbaImage } from '../images/rgba-image.js';

/** Whether a pixel of an image is less than opaque. */
export function hasOwnAlpha(image: RgbaImage): boolean {
  const words = pixelWords(image);
  for (let at = 0; at < words.length; at++) if (words[at]! < 0xff000000) return true;
  return false;
}

/**
 * A copy of an image with transparency over the grey that the network saw it over:
 * what lies hidden under transparent pixels says nothing of where edges are.
 */
export function asSeen({ width, height, data }: RgbaImage): RgbaImage {
  const seen = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i += 4) {
    const own = data[i + 3]!;
    for (let channel = i; channel < i + 3; channel++) {
      seen[channel] = neutralGrey + ((data[channel]! - neutralGrey) * own) / 255 + 0.5;
    }
    seen[i + 3] = own;
  }
  return { width, height, data: seen };
}

/**
 * The alpha that is served, as the image's own: the matte, but nowhere more than the
 * image had already (a soft edge in both is one edge and not two, so they are not
 * multiplied). The colours of what is invisible are erased.
 */
export function applyMatte(image: RgbaImage, matte: Uint8Array): void {
  const words = pixelWords(image);
  for (let at = 0; at < matte.length; at++) {
    const word = words[at]!;
    const alpha = Math.min(matte[at]!, word >>> 24);
    words[at] = alpha === 0 ? 0 : (word & 0xffffff) | (alpha << 24);
  }
}
