import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import type { TeamMember } from './team-member.js';

/** Rows that one member searches at a time. */
const bandHeight = 64;
/** Left, right, top and bottom. */
const sides = 4;

/**
 * The bounding box of the visible pixels; undefined if no pixel is visible.
 * @param image invisible pixels have no colour
 */
export function visibleArea({ width, height, data }: RgbaImage, team: TeamMember): Rectangle | undefined {
  const bands = Math.ceil(height / bandHeight);
  const found = team.bytes(bands * sides * Int32Array.BYTES_PER_ELEMENT);
  const [pixels, boxes] = [team.addressOf(data), team.addressOf(found)];
  team.each(bands, (from, to) => {
    for (let band = from; band < to; band++) {
      const [first, last] = [band * bandHeight, Math.min(height, (band + 1) * bandHeight)];
      team.call('findVisible', {
        pixels,
        width,
        top: first,
        bottom: last,
        result: boxes + band * sides * Int32Array.BYTES_PER_ELEMENT,
      });
    }
  });
  const values = new Int32Array(found.buffer, found.byteOffset, bands * sides);
  const every = (side: number): Int32Array => values.filter((_, i) => i % sides === side);
  const left = Math.min(...every(0));
  const right = Math.max(...every(1));
  const top = Math.min(...every(2));
  const bottom = Math.max(...every(3));
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}
