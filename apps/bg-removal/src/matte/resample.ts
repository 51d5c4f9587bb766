/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';

/**
 * Resizes a plane with a triangle filter: linear interpolation when enlarging, widened to the
 * scale when shrinking, so that no sample is skipped. Pixel centres are aligned (half-pixel
 * convention); borders are replicated.
 */
export function resample(source: Plane, width: number, height: number, team: Team = alone): Plane {
  if (source.width === width && source.height === height) return source;
  // Shrink first, so that the other pass has less to do; columns are the cheaper pass.
  return height < source.height
    ? resampleRows(resampleColumns(source, height, team), width, team)
    : resampleColumns(resampleRows(source, width, team), height, team);
}

interface Taps {
  /** First source index of each target index. */
  readonly first: Int32Array;
  readonly count: number;
  /** `count` weights for each target index. */
  readonly weights: Float32Array;
}

function tapsFor(sourceSize: number, targetSize: number): Taps {
  const scale = sourceSize / targetSize;
  const support = Math.max(1, scale);
  const count = Math.min(sourceSize, Math.ceil(support * 2) + 1);
  const first = new Int32Array(targetSize);
  const weights = new Float32Array(targetSize * count);
  for (let i = 0; i < targetSize; i++) {
    const centre = (i + 0.5) * scale - 0.5;
    const start = Math.min(Math.max(0, Math.ceil(centre - support)), sourceSize - count);
    first[i] = start;
    let sum = 0;
    for (let k = Math.ceil(centre - support); k <= Math.floor(centre + support); k++) {
      const weight = Math.max(0, 1 - Math.abs(k - centre) / support);
      // Outside the plane, repeat the border pixel.
      const inside = Math.min(Math.max(k, 0), sourceSize - 1);
      const slot = Math.min(Math.max(inside - start, 0), count - 1);
      weights[i * count + slot]! += weight;
      sum += weight;
    }
    for (let k = 0; k < count; k++) weights[i * count + k]! /= sum;
  }
  return { first, count, weights };
}

function resampleRows(source: Plane, width: number, team: Team): Plane {
  if (source.width === width) return source;
  const target = createPlane(width, source.height, team);
  const taps = tapsFor(source.width, width);
  team.each(source.height, (top, bottom) => weighRows(source, target, taps, top, bottom));
  return target;
}

function weighRows(source: Plane, target: Plane, taps: Taps, top: number, bottom: number): void {
  const { first, count, weights } = taps;
  const { data } = source;
  const { width, data: out } = target;
  for (let y = top, to = top * width; y < bottom; y++) {
    const from = y * source.width;
    for (let x = 0, tap = 0; x < width; x++, to++) {
      let sum = 0;
      for (let i = from + first[x]!, end = i + count; i < end; i++, tap++) sum += data[i]! * weights[tap]!;
      out[to] = sum;
    }
  }
}

function resampleColumns(source: Plane, height: number, team: Team): Plane {
  if (source.height === height) return source;
  const target = createPlane(source.width, height, team);
  const taps = tapsFor(source.height, height);
  team.each(height, (top, bottom) => weighColumns(source, target, taps, top, bottom));
  return target;
}

function weighColumns(source: Plane, target: Plane, taps: Taps, top: number, bottom: number): void {
  const { first, count, weights } = taps;
  const { width, data } = source;
  const out = target.data;
  for (let y = top, to = top * width; y < bottom; y++) {
    const above = first[y]! * width;
    for (let x = 0; x < width; x++, to++) {
      let sum = 0;
      for (let tap = y * count, end = tap + count, i = above + x; tap < end; tap++, i += width)
        sum += data[i]! * weights[tap]!;
      out[to] = sum;
    }
  }
}
