import type { RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import type { Layers } from './layers.js';
import type { TeamMember } from './team-member.js';

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
  { foreground, background }: Layers,
  team: TeamMember,
): void {
  const { width, height } = image;
  const scratch = team.scratch(team.call('edgeScratch', { width, gridWidth: grid.width }));
  team.run('correctRows', height, {
    pixels: image.data,
    alpha,
    width,
    height,
    foreground: foreground.data,
    background: background.data,
    step: grid.step,
    clearDifference,
    doubt,
    scratch,
  });
}

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
  visible: Uint8Array,
  { foreground, background }: Layers,
  team: TeamMember,
): void {
  const { width, height } = image;
  const scratch = team.scratch(team.call('edgeScratch', { width, gridWidth: grid.width }));
  team.run('replaceRows', height, {
    pixels: image.data,
    alpha,
    visible,
    width,
    height,
    foreground: foreground.data,
    background: background.data,
    step: grid.step,
    scratch,
  });
}
