/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';

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
export function decideWideAreas(mask: Plane, team: Team = alone): void {
  const { width, height } = mask;
  const side = Math.max(width, height);
  const radius = Math.max(1, Math.round(side * reach));
  if (!team.decide(() => hasUndecidedBlock(mask, radius + 1))) return;
  const wide = createPlane(width, height, team);
  const scratch = createPlane(width, height, team);
  team.each(wide.data.length, (from, to) => markUndecided(mask.data, wide.data, from, to));
  boxFilter(wide, radius, scratch, wide, team);
  const rowsWithWideArea = team.bytes(height);
  team.each(height, (from, to) => {
    for (let y = from; y < to; y++) rowsWithWideArea[y] = markWide(wide.data, y * width, (y + 1) * width);
  });
  if (!rowsWithWideArea.includes(1)) return;
  boxFilter(wide, radius, scratch, wide, team);
  const around = createPlane(width, height, team);
  boxFilter(mask, Math.max(1, Math.round(side * surroundings)), scratch, around, team);
  team.each(wide.data.length, (from, to) => decide(mask.data, wide.data, around.data, from, to));
}

function markUndecided(mask: Float32Array, marks: Float32Array, from: number, to: number): void {
  for (let i = from; i < to; i++) marks[i] = isUndecided(mask[i]!) ? 1 : 0;
}

/** Replaces shares of undecided pixels by 1 if that is all, otherwise by 0. Returns 1 if any is 1. */
function markWide(shares: Float32Array, from: number, to: number): 0 | 1 {
  let any: 0 | 1 = 0;
  for (let i = from; i < to; i++) {
    const isWide = shares[i]! > 0.9999;
    shares[i] = isWide ? 1 : 0;
    if (isWide) any = 1;
  }
  return any;
}

function decide(
  mask: Float32Array,
  wide: Float32Array,
  around: Float32Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
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

/** Whether a block is undecided all over. Each window of twice its side holds a whole one, so most masks end here. */
function hasUndecidedBlock(mask: Plane, side: number): boolean {
  for (let top = 0; top < mask.height; top += side) {
    for (let left = 0; left < mask.width; left += side) {
      if (isBlockUndecided(mask, left, top, side)) return true;
    }
  }
  return false;
}

function isBlockUndecided({ width, height, data }: Plane, left: number, top: number, side: number): boolean {
  const right = Math.min(left + side, width);
  const bottom = Math.min(top + side, height);
  for (let y = top; y < bottom; y++) {
    for (let i = y * width + left; i < y * width + right; i++) if (!isUndecided(data[i]!)) return false;
  }
  return true;
}
