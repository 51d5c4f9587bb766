/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { groupsOfFour, neutralGrey, pixelWords, type RgbaImage } from '../images/rgba-image.js';

/** Whether an image has pixels that are not opaque. */
export function hasOwnAlpha(image: RgbaImage): boolean {
  const words = pixelWords(image);
  let at = 0;
  for (const end = words.length - 3; at < end; at += 4) {
    if ((words[at]! & words[at + 1]! & words[at + 2]! & words[at + 3]!) >>> 24 !== 255) return true;
  }
  for (; at < words.length; at++) if (words[at]! >>> 24 !== 255) return true;
  return false;
}

/**
 * Composites a transparent image over the same grey as the network's input. The hidden colours
 * of transparent pixels tell nothing about edges.
 */
export function compositeOverGrey({ width, height, data }: RgbaImage): RgbaImage {
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
 * Sets the image's alpha to the matte, but never above its own alpha. They are not multiplied,
 * because a soft edge in both is the same edge. Erases the colours of invisible pixels.
 */
export function applyMatte(image: RgbaImage, matte: Uint8Array): void {
  const words = pixelWords(image);
  const groups = groupsOfFour(matte);
  for (let at = 0; at < matte.length; at++) {
    if ((at & 3) === 0 && groups[at >> 2] === 0) {
      for (const end = at + 3; at < end; at++) words[at] = 0;
      words[at] = 0;
      continue;
    }
    const word = words[at]!;
    const alpha = Math.min(matte[at]!, word >>> 24);
    words[at] = alpha === 0 ? 0 : (word & 0xffffff) | (alpha << 24);
  }
}
