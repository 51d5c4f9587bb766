/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { estimateForeground } from './foreground.js';
import { featherMatte } from './feather.js';
import { fullAlpha } from './full-alpha.js';
import { cellColours, gridFor, type RgbaImage } from './grid.js';
import { guidedCoefficients, type GuidedFilterOptions } from './guided-filter.js';
import type { Plane } from './plane.js';
import { resample } from './resample.js';
import { stretchMask } from './stretch.js';
import { tuneMatte, type Tuning } from './tuning.js';

/** The steps that can be switched, for measuring what each is worth. */
export interface CutOutSteps {
  readonly refine: GuidedFilterOptions | false;
  readonly estimateForeground: boolean;
}

export const defaultSteps: CutOutSteps = {
  refine: { radius: 4, epsilon: 1e-4 },
  estimateForeground: true,
};

/**
 * Turns an image into its cut-out, in place: matte at full resolution, colours
 * of the foreground alone at its edges, tuning, the image's own alpha, and
 * nothing of the background left where nothing is visible.
 * @param mask what the network said, of any size; it is changed
 * @returns false when there is no foreground; `image` is then unchanged
 */
export function cutOut(
  image: RgbaImage,
  mask: Plane,
  tuning: Tuning,
  steps: CutOutSteps = defaultSteps,
): boolean {
  if (!stretchMask(mask)) return false;
  const grid = gridFor(image.width, image.height);
  const coarse = resample(mask, grid.width, grid.height);
  const model = steps.refine ? guidedCoefficients(cellColours(image, grid), coarse, steps.refine) : undefined;
  const alpha = fullAlpha(image, coarse, grid, model);
  const visible = featherMatte(tuneMatte(alpha, tuning), image.width, image.height, tuning.feather);
  if (steps.estimateForeground) estimateForeground(image, alpha, grid, visible);
  applyAlpha(image.data, visible);
  return true;
}

/** Multiplies the image's own alpha by the matte and erases the colours of what is invisible. */
function applyAlpha(rgba: Uint8Array, alpha: Uint8Array): void {
  for (let at = 0, i = 0; at < alpha.length; at++, i += 4) {
    const value = alpha[at]!;
    const own = rgba[i + 3]!;
    const visible = own === 255 ? value : Math.round((value * own) / 255);
    if (visible === 0) {
      rgba[i] = 0;
      rgba[i + 1] = 0;
      rgba[i + 2] = 0;
    }
    rgba[i + 3] = visible;
  }
}
