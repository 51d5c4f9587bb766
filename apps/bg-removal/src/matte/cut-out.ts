/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { correctAlpha } from './alpha-from-colours.js';
import { estimateForeground } from './foreground.js';
import { featherMatte } from './feather.js';
import { fullAlpha } from './full-alpha.js';
import { pixelWords, type RgbaImage } from '../images/rgba-image.js';
import { cellColours, gridFor } from './grid.js';
import { guidedCoefficients, type GuidedFilterOptions } from './guided-filter.js';
import { estimateLayers } from './layers.js';
import type { Plane } from './plane.js';
import { resample } from './resample.js';
import { stretchMask } from './stretch.js';
import { tuneMatte, type Tuning } from './tuning.js';

/** The steps that can be switched, for measuring what each is worth. */
export interface CutOutSteps {
  readonly refine: GuidedFilterOptions | false;
  readonly correctAlpha: boolean;
  readonly estimateForeground: boolean;
}

export const defaultSteps: CutOutSteps = {
  refine: { radius: 0.012, epsilon: 1e-4 },
  correctAlpha: true,
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
  const { width, height } = image;
  const grid = gridFor(width, height);
  const colours = cellColours(image, grid);
  // Interpolation reads two samples a side; only a mask of more than twice the image needs a filter.
  const fine = mask.width > 2 * width || mask.height > 2 * height ? resample(mask, width, height) : mask;
  const model =
    steps.refine && guidedCoefficients(colours, resample(mask, grid.width, grid.height), steps.refine);
  const alpha = fullAlpha(image, fine, model ? { grid, model } : undefined);
  const needsLayers = steps.correctAlpha || steps.estimateForeground;
  const layers = needsLayers ? estimateLayers(image, alpha, grid, colours) : undefined;
  if (layers && steps.correctAlpha) correctAlpha(image, alpha, grid, layers);
  const visible = featherMatte(tuneMatte(alpha, tuning), width, height, tuning.feather);
  if (layers && steps.estimateForeground) estimateForeground(image, alpha, grid, visible, layers);
  applyAlpha(image, visible);
  return true;
}

/** Multiplies the image's own alpha by the matte and erases the colours of what is invisible. */
function applyAlpha(image: RgbaImage, alpha: Uint8Array): void {
  const words = pixelWords(image);
  for (let at = 0; at < alpha.length; at++) {
    const value = alpha[at]!;
    if (value === 0) {
      words[at] = 0;
      continue;
    }
    const word = words[at]!;
    const own = word >>> 24;
    const visible = own === 255 ? value : Math.round((value * own) / 255);
    words[at] = visible === 0 ? 0 : (word & 0xffffff) | (visible << 24);
  }
}
