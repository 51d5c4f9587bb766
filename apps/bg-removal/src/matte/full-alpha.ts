/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { interpolation, type Grid, type RgbaImage } from './grid.js';
import type { LocalModel } from './guided-filter.js';
import type { Plane } from './plane.js';

/** Refinement starts above this distance from 0 and 1 and is complete at `fullRefinement`. */
const refinementFloor = 0.02;
const fullRefinement = 0.1;

/**
 * The alpha matte at full resolution, 0-255: the coarse mask interpolated
 * linearly and, where it is neither background nor foreground, drawn to the
 * edges of the image by the guided filter's local model.
 */
export function fullAlpha(image: RgbaImage, mask: Plane, grid: Grid, model?: LocalModel): Uint8Array {
  const { width, height } = image;
  const alpha = new Uint8Array(width * height);
  const columns = interpolation(width, grid.width, grid.step);
  const rows = interpolation(height, grid.height, grid.step);
  const blended = new Float32Array(grid.width);
  for (let y = 0; y < height; y++) {
    const top = rows.cell[y]! * grid.width;
    const bottom = rows.next[y]! * grid.width;
    const down = rows.fraction[y]!;
    for (let i = 0; i < grid.width; i++) {
      const above = mask.data[top + i]!;
      blended[i] = above + (mask.data[bottom + i]! - above) * down;
    }
    for (let x = 0, at = y * width; x < width; x++, at++) {
      const left = columns.cell[x]!;
      const right = columns.next[x]!;
      const across = columns.fraction[x]!;
      let value = blended[left]! + (blended[right]! - blended[left]!) * across;
      const margin = Math.min(value, 1 - value) - refinementFloor;
      if (model !== undefined && margin > 0) {
        const lerp = (data: Float32Array): number => {
          const a = data[top + left]! + (data[top + right]! - data[top + left]!) * across;
          const b = data[bottom + left]! + (data[bottom + right]! - data[bottom + left]!) * across;
          return a + (b - a) * down;
        };
        const i = at * 4;
        const guided =
          (lerp(model.red.data) * image.data[i]! +
            lerp(model.green.data) * image.data[i + 1]! +
            lerp(model.blue.data) * image.data[i + 2]!) /
            255 +
          lerp(model.offset.data);
        const weight = Math.min(1, margin / (fullRefinement - refinementFloor));
        value += (Math.min(1, Math.max(0, guided)) - value) * weight;
      }
      alpha[at] = value * 255 + 0.5;
    }
  }
  return alpha;
}
