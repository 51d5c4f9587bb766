/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { neutralGrey, type RgbaImage } from '../images/rgba-image.js';
import type { Team } from './team.js';
import type { TeamMember } from './team-member.js';

/** An image in the shared memory, and what can be seen of it. */
export interface Picture {
  readonly image: RgbaImage;
  /** The same image if it is opaque, otherwise one over grey. */
  readonly seen: RgbaImage;
}

/**
 * @param hasAlpha whether the file has an alpha channel; all pixels may still be opaque
 */
export function pictureOf(image: RgbaImage, hasAlpha: boolean, team: TeamMember): Picture {
  const isOpaque = !hasAlpha || areAllOpaque(image, team);
  return { image, seen: isOpaque ? image : compositeOverGrey(image, team) };
}

function areAllOpaque({ width, height, data }: RgbaImage, team: TeamMember): boolean {
  const pixels = team.addressOf(data);
  const rows = team.bytes(height);
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++)
      rows[y] = team.call('areOpaque', { pixels: pixels + y * width * 4, count: width }) ? 1 : 0;
  });
  return !rows.includes(0);
}

/**
 * Composites a transparent image over the same grey as the network's input. The hidden colours
 * of transparent pixels say nothing about edges.
 */
function compositeOverGrey({ width, height, data }: RgbaImage, team: Team): RgbaImage {
  const seen = team.bytes(data.length);
  team.each(height, (from, to) => {
    for (let i = from * width * 4; i < to * width * 4; i += 4) {
      const own = data[i + 3]!;
      for (let channel = i; channel < i + 3; channel++) {
        seen[channel] = neutralGrey + ((data[channel]! - neutralGrey) * own) / 255 + 0.5;
      }
      seen[i + 3] = own;
    }
  });
  return { width, height, data: seen };
}

/**
 * Sets the image's alpha to the matte, but never above its own alpha. They are not multiplied,
 * because a soft edge in both is the same edge. Erases the colours of invisible pixels.
 * @param isOpaque whether no pixel of the image is transparent
 */
export function applyMatte(image: RgbaImage, matte: Uint8Array, isOpaque: boolean, team: TeamMember): void {
  const [pixels, values] = [team.addressOf(image.data), team.addressOf(matte)];
  team.each(matte.length, (from, to) =>
    team.call('applyMatte', { pixels: pixels + from * 4, matte: values + from, count: to - from, isOpaque }),
  );
}
