/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { groupsOfFour, type RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import { GridSampler } from './grid-sampler.js';
import { estimateLayers, fuse, type Layers } from './layers.js';
import { alone, type Team } from './team.js';

/**
 * Replaces the colours of translucent pixels with the foreground colour, so that the old
 * background does not show through at edges. Opaque pixels keep their colour, and so do pixels
 * with transparency of the image's own, which are not a mixture. Modifies `image` in place.
 * @param alpha the matte, 0-255, before tuning, because it must be the true mixture
 * @param visible nonzero for visible pixels; the others are not changed
 */
export function estimateForeground(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  visible: Uint8Array = alpha,
  layers: Layers = estimateLayers(image, alpha, grid),
  team: Team = alone,
): void {
  const planes = [...layers.foreground, ...layers.background];
  const sampler = new GridSampler(image.width, image.height, grid, planes);
  team.each(image.height, (from, to) => replaceColours(image, alpha, visible, sampler, from, to));
}

function replaceColours(
  { width, data }: RgbaImage,
  alpha: Uint8Array,
  visible: Uint8Array,
  sampler: GridSampler,
  top: number,
  bottom: number,
): void {
  const groups = groupsOfFour(alpha);
  const visibleGroups = groupsOfFour(visible);
  for (let y = top; y < bottom; y++) {
    for (let x = 0, at = y * width; x < width; x++, at++) {
      if ((at & 3) === 0 && (visibleGroups[at >> 2] === 0 || groups[at >> 2] === -1)) {
        x += 3;
        at += 3;
        continue;
      }
      if (visible[at] === 0 || alpha[at] === 255 || data[at * 4 + 3] !== 255) continue;
      sampler.moveTo(x, y);
      const a = alpha[at]! / 255;
      for (let channel = 0; channel < 3; channel++) {
        const i = at * 4 + channel;
        data[i] = fuse(sampler.read(channel), sampler.read(channel + 3), a, data[i]!) + 0.5;
      }
    }
  }
}
