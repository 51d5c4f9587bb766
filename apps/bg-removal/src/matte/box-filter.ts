/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { createCells, type Cells } from './grid.js';
import type { Plane } from './plane.js';
import { alone, type Team } from './team.js';
import type { TeamMember } from './team-member.js';

/**
 * Mean over a square window of side `2 × radius + 1`, clipped at the borders. Uses running
 * sums, so the cost per pixel does not depend on the radius.
 * @param scratch a plane of the same size as `source`; overwritten
 * @param target may be `source`
 */
export function boxFilter(
  source: Plane,
  radius: number,
  scratch: Plane,
  target: Plane = source,
  team: Team = alone,
): void {
  team.each(source.height, (from, to) => filterRows(source, radius, scratch, from, to));
  team.each(source.width, (from, to) => filterColumns(scratch, radius, target, from, to));
}

/** {@link boxFilter} of four channels at once; replaces `cells`. */
export function boxFilterCells(cells: Cells, radius: number, team: TeamMember): void {
  const { width, height } = cells;
  const at = team.addressOf(cells.data);
  const rows = team.addressOf(createCells(cells, team).data);
  const sums = team.addressOf(team.bytes(width * 4 * Float64Array.BYTES_PER_ELEMENT));
  team.each(height, (from, to) => team.kernels.boxRows(at, rows, width, radius, from, to));
  team.each(width, (from, to) => team.kernels.boxColumns(rows, at, sums, width, height, radius, from, to));
}

function filterRows(
  { width, data }: Plane,
  radius: number,
  target: Plane,
  top: number,
  bottom: number,
): void {
  const out = target.data;
  const reach = Math.min(radius, width - 1);
  const shares = windowShares(width, reach);
  for (let y = top; y < bottom; y++) {
    const row = y * width;
    const end = row + width;
    let sum = 0;
    for (let i = row; i < row + reach; i++) sum += data[i]!;
    // Between them, every window is whole.
    const whole = Math.min(row + reach + 1, end);
    const cut = Math.max(whole, end - reach);
    for (let i = row; i < whole; i++) {
      if (i + reach < end) sum += data[i + reach]!;
      out[i] = sum * shares[i - row]!;
    }
    const share = shares[reach]!;
    for (let i = whole; i < cut; i++) {
      sum += data[i + reach]! - data[i - reach - 1]!;
      out[i] = sum * share;
    }
    for (let i = cut; i < end; i++) {
      sum -= data[i - reach - 1]!;
      out[i] = sum * shares[i - row]!;
    }
  }
}

function filterColumns(
  { width, height, data }: Plane,
  radius: number,
  target: Plane,
  left: number,
  right: number,
): void {
  const out = target.data;
  const reach = Math.min(radius, height - 1);
  const shares = windowShares(height, reach);
  // Doubles, because each sum is updated thousands of times.
  const sums = new Float64Array(width);
  for (let y = 0; y < reach; y++) {
    for (let x = left; x < right; x++) sums[x]! += data[y * width + x]!;
  }
  for (let y = 0; y < height; y++) {
    const share = shares[y]!;
    const row = y * width;
    const entering = row + reach * width;
    const leaving = row - (reach + 1) * width;
    // Two rows at once if both have whole windows, so that each sum is read and stored only once.
    if (y > reach && y + reach + 1 < height) {
      for (let x = left; x < right; x++) {
        const sum = sums[x]! + data[entering + x]! - data[leaving + x]!;
        const next = sum + data[entering + width + x]! - data[leaving + width + x]!;
        sums[x] = next;
        out[row + x] = sum * share;
        out[row + width + x] = next * share;
      }
      y++;
      continue;
    }
    for (let x = left; x < right; x++) {
      if (y + reach < height) sums[x]! += data[entering + x]!;
      if (y > reach) sums[x]! -= data[leaving + x]!;
      out[row + x] = sums[x]! * share;
    }
  }
}

/** One over the number of samples in the window around each position. */
function windowShares(size: number, reach: number): Float64Array {
  const shares = new Float64Array(size);
  for (let i = 0; i < size; i++) shares[i] = 1 / (Math.min(size - 1, i + reach) - Math.max(0, i - reach) + 1);
  return shares;
}
