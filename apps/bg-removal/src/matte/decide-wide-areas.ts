/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Rectangle } from '../images/output.js';
import { boxFilter } from './box-filter.js';
import { createPlane, type Plane } from './plane.js';
import type { TeamMember } from './team-member.js';

/** Between these values the network is undecided. */
const undecided = { from: 0.04, to: 0.96 } as const;
/** Radius as a share of the mask's longer side; edges and hair are narrower than twice this. */
const reach = 3 / 128;
/** Radius, as a share of the mask's longer side, of the surroundings that must be mostly foreground. */
const surroundings = 12 / 128;
/** Mean of the surroundings at which an area starts to change, and at which it changes fully. */
const leaning = { from: 0.45, to: 0.6 } as const;
/**
 * Moves wide undecided areas of the foreground towards 1, in place. Edges and hair are
 * undecided over only a few pixels. If no pixel within reach is decided, the network is usually
 * unsure whether a solid part belongs to the subject, which would leave a half-transparent
 * ghost. The change fades in from the border of such an area. Two kinds of area don't change:
 * pixels below 0.5, such as loose hair, and spots within the background, which the network
 * mistakes for foreground.
 * @param mask 0-1
 */
export function decideWideAreas(mask: Plane, team: TeamMember): void {
  const side = Math.max(mask.width, mask.height);
  const radius = Math.max(1, Math.round(side * reach));
  const blocks = boxOfUndecidedBlocks(mask, radius + 1, team);
  if (blocks === undefined) return;
  // Wide areas lie within one radius of the blocks, and fade within two. One more keeps the windows whole.
  const changing = grown(blocks, 2 * radius, mask);
  const area = grown(blocks, 3 * radius, mask);
  const wide = createPlane(area.width, area.height, team);
  team.each(area.height, (from, to) => markUndecided(mask, area, wide.data, from, to));
  boxFilter(wide, radius, team);
  const rowsWithWideArea = team.bytes(area.height);
  team.each(area.height, (from, to) => {
    for (let y = from; y < to; y++) rowsWithWideArea[y] = markWide(wide.data, area, changing, y);
  });
  if (!rowsWithWideArea.includes(1)) return;
  boxFilter(wide, radius, team);
  const aroundRadius = Math.max(1, Math.round(side * surroundings));
  const aroundArea = grown(changing, aroundRadius, mask);
  const around = copyOf(mask, aroundArea, team);
  boxFilter(around, aroundRadius, team);
  team.each(changing.height, (from, to) => {
    for (let y = changing.top + from; y < changing.top + to; y++) {
      const [first, count] = [y * mask.width + changing.left, changing.width];
      const wideFirst = (y - area.top) * area.width + changing.left - area.left;
      const aroundFirst = (y - aroundArea.top) * aroundArea.width + changing.left - aroundArea.left;
      decide(
        mask.data.subarray(first, first + count),
        wide.data.subarray(wideFirst, wideFirst + count),
        around.data.subarray(aroundFirst, aroundFirst + count),
      );
    }
  });
}

/** An area and `margin` around it, limited by the mask. */
function grown({ left, top, width, height }: Rectangle, margin: number, mask: Plane): Rectangle {
  const [newLeft, newTop] = [Math.max(0, left - margin), Math.max(0, top - margin)];
  return {
    left: newLeft,
    top: newTop,
    width: Math.min(mask.width, left + width + margin) - newLeft,
    height: Math.min(mask.height, top + height + margin) - newTop,
  };
}

function copyOf(mask: Plane, { left, top, width, height }: Rectangle, team: TeamMember): Plane {
  const copy = createPlane(width, height, team);
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++) {
      const first = (top + y) * mask.width + left;
      copy.data.set(mask.data.subarray(first, first + width), y * width);
    }
  });
  return copy;
}

function markUndecided(
  mask: Plane,
  area: Rectangle,
  marks: Float32Array,
  firstRow: number,
  lastRow: number,
): void {
  for (let y = firstRow; y < lastRow; y++) {
    let from = (area.top + y) * mask.width + area.left;
    for (let to = y * area.width; to < (y + 1) * area.width; to++, from++) {
      marks[to] = isUndecided(mask.data[from]!) ? 1 : 0;
    }
  }
}

/**
 * In a row of an area, replaces shares of undecided pixels by 1 if that is all, otherwise by 0.
 * Outside `inner`, windows were not whole. Returns 1 if any is 1.
 */
function markWide(shares: Float32Array, area: Rectangle, inner: Rectangle, y: number): 0 | 1 {
  const row = y * area.width;
  const hasInner = y >= inner.top - area.top && y < inner.top + inner.height - area.top;
  const first = inner.left - area.left;
  let any: 0 | 1 = 0;
  for (let x = 0; x < area.width; x++) {
    const isWide = hasInner && x >= first && x < first + inner.width && shares[row + x]! > 0.9999;
    shares[row + x] = isWide ? 1 : 0;
    if (isWide) any = 1;
  }
  return any;
}

function decide(mask: Float32Array, wide: Float32Array, around: Float32Array): void {
  for (let i = 0; i < mask.length; i++) {
    const leans = Math.min(1, (around[i]! - leaning.from) / (leaning.to - leaning.from));
    const weight = Math.min(1, 2 * wide[i]!) * leans;
    const value = mask[i]!;
    if (weight <= 0 || value <= 0.5) continue;
    // Three times the logit.
    const before = value / (1 - value);
    const odds = before * before * before;
    mask[i] = value + weight * (odds / (1 + odds) - value);
  }
}

function isUndecided(value: number): boolean {
  return value > undecided.from && value < undecided.to;
}

/**
 * The box of all blocks that are undecided all over, or undefined. Each window of twice their side
 * holds a whole one, so most masks end here.
 */
function boxOfUndecidedBlocks(mask: Plane, side: number, team: TeamMember): Rectangle | undefined {
  const [across, down] = [Math.ceil(mask.width / side), Math.ceil(mask.height / side)];
  const marks = team.bytes(across * down);
  team.each(marks.length, (from, to) => {
    for (let block = from; block < to; block++) {
      const [x, y] = [block % across, Math.floor(block / across)];
      marks[block] = isBlockUndecided(mask, x * side, y * side, side) ? 1 : 0;
    }
  });
  let [left, right, top, bottom] = [across, -1, down, -1];
  for (let block = marks.indexOf(1); block !== -1; block = marks.indexOf(1, block + 1)) {
    const [x, y] = [block % across, Math.floor(block / across)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (right === -1) return undefined;
  return {
    left: left * side,
    top: top * side,
    width: Math.min(mask.width, (right + 1) * side) - left * side,
    height: Math.min(mask.height, (bottom + 1) * side) - top * side,
  };
}

function isBlockUndecided({ width, height, data }: Plane, left: number, top: number, side: number): boolean {
  const right = Math.min(left + side, width);
  const bottom = Math.min(top + side, height);
  for (let y = top; y < bottom; y++) {
    for (let i = y * width + left; i < y * width + right; i++) if (!isUndecided(data[i]!)) return false;
  }
  return true;
}
