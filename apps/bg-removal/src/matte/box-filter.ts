/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';

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

/** {@link boxFilter} for several planes of one size: each is the work of one member. */
export function boxFilterAll(planes: readonly Plane[], radius: number, team: Team, targets = planes): void {
  let scratch: Plane | undefined;
  team.each(planes.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const plane = planes[i]!;
      scratch ??= createPlane(plane.width, plane.height);
      boxFilter(plane, radius, scratch, targets[i]);
    }
  });
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
    for (let i = row; i < end; i++) {
      const entering = i + reach < end ? data[i + reach]! : 0;
      const leaving = i - reach > row ? data[i - reach - 1]! : 0;
      sum += entering - leaving;
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
  const zeros = new Float32Array(width);
  for (let y = 0; y < height; y++) {
    const share = shares[y]!;
    const entering = y + reach < height ? data.subarray((y + reach) * width, (y + reach + 1) * width) : zeros;
    const leaving = y - reach > 0 ? data.subarray((y - reach - 1) * width, (y - reach) * width) : zeros;
    for (let x = left, i = y * width + left; x < right; x++, i++) {
      const sum = sums[x]! + entering[x]! - leaving[x]!;
      sums[x] = sum;
      out[i] = sum * share;
    }
  }
}

/** One over the number of samples in the window around each position. */
function windowShares(size: number, reach: number): Float64Array {
  const shares = new Float64Array(size);
  for (let i = 0; i < size; i++) shares[i] = 1 / (Math.min(size - 1, i + reach) - Math.max(0, i - reach) + 1);
  return shares;
}
