/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Rectangle } from '../images/output.js';
import { pixelWords, type RgbaImage } from '../images/rgba-image.js';
import { featherMatte } from './feather.js';
import type { OwnAlpha } from './find-subject.js';
import { sampleOf } from './finished-cut-out.js';
import type { TeamMember } from './team-member.js';
import { tuneMatte } from './tune-matte.js';
import type { Tuning } from './tuning.js';
import { visibleArea } from './visible-area.js';

/**
 * Finishes an image that is already a cut-out, in place: its own alpha stands. Removes the parts that
 * the network rejects and the colours of invisible pixels, and applies the tuning. Pixels that a
 * feather makes visible get the colours of the subject near them.
 * @returns the box of all visible pixels; undefined if there are none
 */
export function keepOwnAlpha(
  image: RgbaImage,
  { outline, rejected }: OwnAlpha,
  tuning: Tuning,
  team: TeamMember,
): Rectangle | undefined {
  const { width, height } = image;
  const words = pixelWords(image);
  const own = team.bytes(words.length);
  const hasRejected = rejected.includes(1);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (hasRejected && rejected[sampleOf(outline.box, x, y)] === 1) words[i] = 0;
      own[i] = words[i]! >>> 24;
    }
  }
  const visible = featherMatte(tuneMatte(own, tuning, team), width, height, tuning.feather, team);
  if (tuning.feather > 0) spreadColours(words, own, visible, width);
  for (let i = 0; i < words.length; i++) {
    words[i] = visible[i] === 0 ? 0 : ((words[i]! & 0xffffff) | (visible[i]! << 24)) >>> 0;
  }
  return visibleArea(image, team);
}

/**
 * Gives pixels that become visible a colour, ring by ring outwards: the mean of their neighbours that
 * have one.
 * @param own alpha so far; pixels without any have no colour
 */
function spreadColours(words: Uint32Array, own: Uint8Array, visible: Uint8Array, width: number): void {
  /** In which round a pixel got its colour, from 1; 0 while it has none. */
  const rounds = own.map((alpha) => (alpha === 0 ? 0 : 1));
  let missing = withoutColour(own, visible);
  // A feather reaches less far.
  for (let round = 2; round < 256 && missing.length > 0; round++) {
    let left = 0;
    for (const i of missing) {
      const colour = meanAround(words, rounds, i, { width, round });
      if (colour === undefined) missing[left++] = i;
      else {
        words[i] = colour;
        rounds[i] = round;
      }
    }
    // The soft edge of a neighbour that has gone.
    if (left === missing.length) break;
    missing = missing.subarray(0, left);
  }
  for (const i of missing) visible[i] = 0;
}

/** The pixels that become visible; as numbers of 32 bits, because a large image can have as many as pixels. */
function withoutColour(own: Uint8Array, visible: Uint8Array): Uint32Array {
  const isMissing = (i: number): boolean => own[i] === 0 && visible[i] !== 0;
  let count = 0;
  for (let i = 0; i < own.length; i++) if (isMissing(i)) count++;
  const found = new Uint32Array(count);
  for (let i = 0, next = 0; i < own.length; i++) if (isMissing(i)) found[next++] = i;
  return found;
}

/** The mean of the neighbours that got a colour before this round. */
function meanAround(
  words: Uint32Array,
  rounds: Uint8Array,
  at: number,
  { width, round }: { readonly width: number; readonly round: number },
): number | undefined {
  const x = at % width;
  let [red, green, blue, count] = [0, 0, 0, 0];
  for (let row = at - width; row <= at + width; row += width) {
    for (let i = row - (x > 0 ? 1 : 0); i <= row + (x < width - 1 ? 1 : 0); i++) {
      const colouredIn = rounds[i] ?? 0;
      if (colouredIn === 0 || colouredIn === round) continue;
      const word = words[i]!;
      red += word & 255;
      green += (word >>> 8) & 255;
      blue += (word >>> 16) & 255;
      count++;
    }
  }
  if (count === 0) return undefined;
  const mean = (sum: number): number => Math.round(sum / count);
  return mean(red) | (mean(green) << 8) | (mean(blue) << 16);
}
