/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { groupsOfFour, type RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import { GridSampler } from './grid-sampler.js';
import type { Layers } from './layers.js';
import { alone, type Team } from './team.js';

/**
 * Difference between foreground and background, in levels of 255, at which colours count as
 * much as the matte.
 */
const clearDifference = 70;
/** How much to distrust a colour that is not on the line between the two, which is a different mixture. */
const doubt = 10;

/**
 * Corrects the matte using colours. If the foreground colour `F` and background colour `B` are
 * known, a mixed pixel `I` lies on the line between them, and its position there,
 * `(I−B)·(F−B)/|F−B|²`, is its alpha. The less reliable that is, the less the matte changes.
 * Modifies `alpha` (0-255) in place, except 0, 255 and pixels with transparency of the image's
 * own, whose colours are not a mixture.
 */
export function correctAlpha(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  { foreground, background, certainty }: Layers,
  team: Team = alone,
): void {
  const planes = [...foreground, ...background, certainty];
  const sampler = new GridSampler(image.width, image.height, grid, planes);
  team.each(image.height, (from, to) => correctRows(image, alpha, sampler, from, to));
}

function correctRows(
  { width, data }: RgbaImage,
  alpha: Uint8Array,
  sampler: GridSampler,
  top: number,
  bottom: number,
): void {
  const groups = groupsOfFour(alpha);
  for (let y = top; y < bottom; y++) {
    for (let x = 0, at = y * width; x < width; x++, at++) {
      if ((at & 3) === 0 && (groups[at >> 2] === 0 || groups[at >> 2] === -1)) {
        x += 3;
        at += 3;
        continue;
      }
      const value = alpha[at]!;
      if (value === 0 || value === 255 || data[at * 4 + 3] !== 255) continue;
      sampler.moveTo(x, y);
      const certainty = sampler.read(6);
      if (certainty === 0) continue;
      let along = 0;
      let length = 0;
      let distance = 0;
      for (let channel = 0; channel < 3; channel++) {
        const behind = sampler.read(channel + 3);
        const difference = sampler.read(channel) - behind;
        const fromBehind = data[at * 4 + channel]! - behind;
        along += fromBehind * difference;
        length += difference * difference;
        distance += fromBehind * fromBehind;
      }
      if (length === 0) continue;
      const place = Math.min(1, Math.max(0, along / length));
      const besideLine = distance + place * (place * length - 2 * along);
      const trust = (certainty * length) / (length + clearDifference ** 2 + doubt * besideLine);
      alpha[at] = value + trust * (place * 255 - value) + 0.5;
    }
  }
}
