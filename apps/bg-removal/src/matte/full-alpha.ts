import type { RgbaImage } from '../images/rgba-image.js';
import type { Cells, Grid } from './grid.js';
import type { Plane } from './plane.js';
import type { TeamMember } from './team-member.js';

/** Refinement starts above this distance from 0 and 1 and is complete at `fullRefinement`. */
const refinementFloor = 0.02;
const fullRefinement = 0.1;

/**
 * The alpha matte at full resolution, 0-255. Interpolates the network's mask linearly. Where it
 * is neither background nor foreground, the guided filter's local model aligns it with the
 * image's edges.
 * @param mask at most about twice the image's size
 */
export function fullAlpha(
  image: RgbaImage,
  mask: Plane,
  grid: Grid,
  model: Cells | undefined,
  team: TeamMember,
): Uint8Array {
  const { width, height } = image;
  const alpha = team.bytes(width * height);
  const scratch = team.scratch(
    team.call('fullAlphaScratch', { width, gridWidth: grid.width, maskWidth: mask.width }),
  );
  team.run('fullAlphaRows', height, {
    pixels: image.data,
    alpha,
    width,
    height,
    mask: mask.data,
    maskWidth: mask.width,
    maskHeight: mask.height,
    model: model?.data ?? 0,
    step: grid.step,
    floor: refinementFloor,
    complete: fullRefinement,
    scratch,
  });
  return alpha;
}
