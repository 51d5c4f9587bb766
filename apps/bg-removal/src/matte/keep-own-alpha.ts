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
  const hasColour = own.map((alpha) => (alpha === 0 ? 0 : 1));
  let ring: number[] = [];
  for (let i = 0; i < words.length; i++) if (own[i] === 0 && visible[i] !== 0) ring.push(i);
  while (ring.length > 0) {
    const later: number[] = [];
    const coloured: number[] = [];
    for (const i of ring) {
      const colour = meanAround(words, hasColour, i, width);
      if (colour === undefined) later.push(i);
      else {
        words[i] = colour;
        coloured.push(i);
      }
    }
    // The soft edge of a neighbour that has gone.
    if (coloured.length === 0) break;
    for (const i of coloured) hasColour[i] = 1;
    ring = later;
  }
  for (const i of ring) visible[i] = 0;
}

function meanAround(
  words: Uint32Array,
  hasColour: Uint8Array,
  at: number,
  width: number,
): number | undefined {
  const x = at % width;
  let [red, green, blue, count] = [0, 0, 0, 0];
  for (let row = at - width; row <= at + width; row += width) {
    for (let i = row - (x > 0 ? 1 : 0); i <= row + (x < width - 1 ? 1 : 0); i++) {
      if (hasColour[i] !== 1) continue;
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
