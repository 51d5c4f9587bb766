/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { alone, type Team } from './team.js';
import { groupsOfFour, neutralGrey, pixelWords, type RgbaImage } from '../images/rgba-image.js';

/** Whether an image has pixels that are not opaque. */
export function hasOwnAlpha(image: RgbaImage, team: Team = alone): boolean {
  const { width, height } = image;
  const words = pixelWords(image);
  const rows = team.bytes(height);
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++) rows[y] = isOpaque(words, y * width, (y + 1) * width) ? 0 : 1;
  });
  return rows.includes(1);
}

function isOpaque(words: Uint32Array, from: number, to: number): boolean {
  let at = from;
  for (const end = to - 3; at < end; at += 4) {
    if ((words[at]! & words[at + 1]! & words[at + 2]! & words[at + 3]!) >>> 24 !== 255) return false;
  }
  for (; at < to; at++) if (words[at]! >>> 24 !== 255) return false;
  return true;
}

/**
 * Composites a transparent image over the same grey as the network's input. The hidden colours
 * of transparent pixels say nothing about edges.
 */
export function compositeOverGrey({ width, height, data }: RgbaImage, team: Team = alone): RgbaImage {
  const seen = team.bytes(data.length);
  team.each(height, (from, to) => {
    for (let i = from * width * 4; i < to * width * 4; i += 4) {
      const own = data[i + 3]!;
      for (let channel = i; channel < i + 3; channel++) {
        seen[channel] = neutralGrey + ((data[channel]! - neutralGrey) * own) / 255 + 0.5;
      }
      seen[i + 3] = own;
    }
  });
  return { width, height, data: seen };
}

/**
 * Sets the image's alpha to the matte, but never above its own alpha. They are not multiplied,
 * because a soft edge in both is the same edge. Erases the colours of invisible pixels.
 * @param isOpaque whether no pixel of the image is transparent
 */
export function applyMatte(image: RgbaImage, matte: Uint8Array, isOpaque: boolean, team: Team = alone): void {
  team.each(matte.length, (from, to) => applyTo(image, matte, isOpaque, from, to));
}

/** Works on pixels `from` to `to`, and on the invisible ones of a group that starts there. */
function applyTo(image: RgbaImage, matte: Uint8Array, isOpaque: boolean, from: number, to: number): void {
  const words = pixelWords(image);
  const groups = groupsOfFour(matte);
  for (let at = from; at < to; at++) {
    if ((at & 3) === 0) {
      const start = at;
      while (at < to && groups[at >> 2] === 0) at += 4;
      if (at > start) words.fill(0, start, at);
      while (isOpaque && at < to && groups[at >> 2] === -1) at += 4;
      if (at >= to) return;
    }
    const word = words[at]!;
    const alpha = Math.min(matte[at]!, word >>> 24);
    words[at] = alpha === 0 ? 0 : (word & 0xffffff) | (alpha << 24);
  }
}
