/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import { GridSampler } from './grid-sampler.js';
import type { LocalModel } from './guided-filter.js';
import { interpolation } from './interpolation.js';
import type { Plane } from './plane.js';

/** Refinement starts above this distance from 0 and 1 and is complete at `fullRefinement`. */
const refinementFloor = 0.02;
const fullRefinement = 0.1;
/** Values that round to 0 and to 255. */
const empty = 0.5 / 255;
const full = 1 - empty;

/**
 * The alpha matte at full resolution, 0-255. Interpolates the network's mask linearly. Where it
 * is neither background nor foreground, the guided filter's local model aligns it with the
 * image's edges.
 * @param mask at most about twice the image's size
 */
export function fullAlpha(
  image: RgbaImage,
  mask: Plane,
  refinement?: { grid: Grid; model: LocalModel },
): Uint8Array {
  const { width, height } = image;
  const alpha = new Uint8Array(width * height);
  const columns = interpolation(width, mask.width, width / mask.width);
  const rows = interpolation(height, mask.height, height / mask.height);
  const refine = refinement && refinementOf(image, refinement.grid, refinement.model);
  const blended = new Float32Array(mask.width);
  for (let y = 0; y < height; y++) {
    const top = rows.before[y]! * mask.width;
    const bottom = rows.after[y]! * mask.width;
    const down = rows.fraction[y]!;
    for (let i = 0; i < mask.width; i++) {
      const above = mask.data[top + i]!;
      blended[i] = above + (mask.data[bottom + i]! - above) * down;
    }
    for (let x = 0, at = y * width; x < width;) {
      const sample = columns.before[x]!;
      const left = blended[sample]!;
      const right = blended[columns.after[x]!]!;
      let end = x + 1;
      while (end < width && columns.before[end] === sample) end++;
      if (left < empty && right < empty) {
        at += end - x;
        x = end;
      } else if (left > full && right > full) {
        alpha.fill(255, at, at + end - x);
        at += end - x;
        x = end;
      } else {
        for (; x < end; x++, at++) {
          const value = left + (right - left) * columns.fraction[x]!;
          const margin = Math.min(value, 1 - value) - refinementFloor;
          const refined = refine === undefined || margin <= 0 ? value : refine(value, margin, x, y);
          alpha[at] = refined * 255 + 0.5;
        }
      }
    }
  }
  return alpha;
}

/** Applies the local model, interpolated between cells, to single pixels. */
function refinementOf(
  { width, height, data }: RgbaImage,
  grid: Grid,
  model: LocalModel,
): (value: number, margin: number, x: number, y: number) => number {
  const { red, green, blue, offset } = model;
  const sampler = new GridSampler(width, height, grid, [red, green, blue, offset]);
  return (value, margin, x, y) => {
    sampler.moveTo(x, y);
    const i = (y * width + x) * 4;
    const coloured =
      sampler.read(0) * data[i]! + sampler.read(1) * data[i + 1]! + sampler.read(2) * data[i + 2]!;
    const guided = coloured / 255 + sampler.read(3);
    const weight = Math.min(1, margin / (fullRefinement - refinementFloor));
    return value + (Math.min(1, Math.max(0, guided)) - value) * weight;
  };
}
