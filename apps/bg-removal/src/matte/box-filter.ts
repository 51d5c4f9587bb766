/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Plane } from './plane.js';

/**
 * Mean over a square window of side `2 × radius + 1`, cut at the borders. The
 * cost per pixel does not depend on the radius (running sums).
 * @param scratch of the same size as `source`; its contents are lost
 * @param target may be `source`
 */
export function boxFilter(source: Plane, radius: number, scratch: Plane, target: Plane = source): void {
  filterRows(source, radius, scratch);
  filterColumns(scratch, radius, target);
}

function filterRows({ width, height, data }: Plane, radius: number, target: Plane): void {
  const out = target.data;
  const reach = Math.min(radius, width - 1);
  for (let y = 0; y < height; y++) {
    const row = y * width;
    let sum = 0;
    let count = 0;
    for (let x = 0; x < reach; x++) {
      sum += data[row + x]!;
      count++;
    }
    for (let x = 0; x < width; x++) {
      if (x + reach < width) {
        sum += data[row + x + reach]!;
        count++;
      }
      if (x - reach > 0) {
        sum -= data[row + x - reach - 1]!;
        count--;
      }
      out[row + x] = sum / count;
    }
  }
}

function filterColumns({ width, height, data }: Plane, radius: number, target: Plane): void {
  const out = target.data;
  const reach = Math.min(radius, height - 1);
  // Doubles: sums that are added to and taken from thousands of times.
  const sums = new Float64Array(width);
  let count = 0;
  const add = (y: number): void => {
    for (let x = 0, i = y * width; x < width; x++, i++) sums[x]! += data[i]!;
    count++;
  };
  for (let y = 0; y < reach; y++) add(y);
  for (let y = 0; y < height; y++) {
    if (y + reach < height) add(y + reach);
    if (y - reach > 0) {
      for (let x = 0, i = (y - reach - 1) * width; x < width; x++, i++) sums[x]! -= data[i]!;
      count--;
    }
    const scale = 1 / count;
    for (let x = 0, i = y * width; x < width; x++, i++) out[i] = sums[x]! * scale;
  }
}
