import type { RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import type { Layers } from './layers.js';
import type { TeamMember } from './team-member.js';

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
  const pixels = team.addressOf(image.data);
  const matte = team.addressOf(alpha);
  const shown = team.addressOf(visible);
  const front = team.addressOf(foreground.data);
  const behind = team.addressOf(background.data);
  const scratch = team.scratch(team.kernels.edgeScratch(width, grid.width));
  team.each(height, (from, to) =>
    team.kernels.replaceRows(
      pixels,
      matte,
      shown,
      width,
      height,
      front,
      behind,
      grid.step,
      scratch,
      from,
      to,
    ),
  );
}
