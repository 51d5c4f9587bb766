import { decideWideAreas } from './decide-wide-areas.js';
import { correctAlpha, estimateForeground } from './edge-colours.js';
import { featherMatte } from './feather.js';
import { fullAlpha } from './full-alpha.js';
import { cellColours, gridFor } from './grid.js';
import { guidedCoefficients, type GuidedFilterOptions } from './guided-filter.js';
import { estimateLayers } from './layers.js';
import type { Rectangle } from '../images/output.js';
import { applyMatte, type Picture } from './own-alpha.js';
import type { Plane } from './plane.js';
import { resample } from './resample.js';
import { stretchMask } from './stretch.js';
import type { TeamMember } from './team-member.js';
import { tuneMatte } from './tune-matte.js';
import type { Tuning } from './tuning.js';
import { visibleArea } from './visible-area.js';

/** Steps that benchmarks can disable to measure their effect. */
export interface CutOutSteps {
  readonly decideWideAreas: boolean;
  readonly refine: GuidedFilterOptions | false;
  readonly correctAlpha: boolean;
  readonly estimateForeground: boolean;
}

export const defaultSteps: CutOutSteps = {
  decideWideAreas: true,
  refine: { radius: 0.012, epsilon: 1e-4 },
  correctAlpha: true,
  estimateForeground: true,
};

/**
 * Turns an image into its cut-out, in place: computes the matte at full resolution, replaces
 * edge colours by the foreground's, applies the tuning, and erases the colours of invisible
 * pixels. Pixels with transparency of the image's own keep their colours and do not become more
 * opaque.
 * @param mask the network's output, of any size; modified
 * @returns the box of all visible pixels; undefined if there are none, or no foreground: the image is
 *   then unchanged or invisible
 */
export function cutOut(
  { image, seen }: Picture,
  mask: Plane,
  tuning: Tuning,
  steps: CutOutSteps,
  team: TeamMember,
): Rectangle | undefined {
  if (!stretchMask(mask, team)) return undefined;
  // A strength below 1 is meant for translucent areas, such as glass.
  if (steps.decideWideAreas && tuning.foregroundStrength >= 1) decideWideAreas(mask, team);
  const { width, height } = image;
  const grid = gridFor(width, height);
  const isOpaque = seen === image;
  const colours = cellColours(seen, grid, team);
  // Interpolation reads two samples per axis, so only a mask of more than twice the image's size
  // needs a filter.
  const fine =
    mask.width > 2 * width || mask.height > 2 * height ? resample(mask, width, height, team) : mask;
  const model =
    steps.refine &&
    guidedCoefficients(colours, resample(mask, grid.width, grid.height, team), steps.refine, team);
  const alpha = fullAlpha(seen, fine, grid, model || undefined, team);
  const needsLayers = steps.correctAlpha || steps.estimateForeground;
  const layers = needsLayers ? estimateLayers(image, alpha, grid, colours, isOpaque, team) : undefined;
  if (layers && steps.correctAlpha) correctAlpha(image, alpha, grid, layers, team);
  // A subject without any opaque pixel is haze that the network was unsure of.
  if (!alpha.includes(255)) return undefined;
  const visible = featherMatte(tuneMatte(alpha, tuning, team), width, height, tuning.feather, team);
  if (layers && steps.estimateForeground) estimateForeground(image, alpha, grid, visible, layers, team);
  applyMatte(image, visible, isOpaque, team);
  return visibleArea(image, team);
}
