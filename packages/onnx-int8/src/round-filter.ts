import { largestMagnitude } from './nodes.js';

/** A filter in integer steps of `scale`. */
export interface RoundedFilter {
  /** -127 to 127. */
  readonly steps: Int8Array<ArrayBuffer>;
  readonly scale: number;
}

/**
 * The largest sum of two weights of the same sign that every x86-64 processor multiplies
 * exactly. Without VNNI, onnxruntime multiplies by `vpmaddubsw`, which adds two neighbouring
 * products in 16 signed bits: 255 × 128 = 32 640 fits, and 255 × 129 saturates.
 */
const largestPairSum = 128;
const scaleIncrease = 1.004;

/**
 * Rounds a filter with the smallest scale of at least `leastScale` for which no sum of two
 * neighbouring products can saturate ({@link largestPairSum}).
 * @param values channel by channel, `area` weights each
 */
export function quantiseFilter(values: Float32Array, area: number, leastScale = 0): RoundedFilter {
  const most = Math.max(largestMagnitude(values) / 127, maxPairSum(values, area) / largestPairSum);
  let scale = Math.fround(Math.max(most, leastScale, 1e-8));
  for (;;) {
    const steps = roundFilter(values, scale, area);
    if (maxPairSum(steps, area) <= largestPairSum) return { steps, scale };
    scale = Math.fround(scale * scaleIncrease);
  }
}

/**
 * The largest absolute sum of two weights of the same sign that a kernel multiplies in one
 * step. Kernels read channels first, then positions, in pairs from the first weight on. With an
 * odd number of channels, some kernels pad each position and others don't, so any two
 * neighbours may be a pair.
 */
export function maxPairSum(values: Float32Array | Int8Array, area: number): number {
  const channels = values.length / area;
  const at = (k: number): number => values[(k % channels) * area + Math.floor(k / channels)] ?? 0;
  let largest = 0;
  for (let k = 0; k + 1 < values.length; k += channels % 2 === 0 ? 2 : 1) {
    const [first, second] = [at(k), at(k + 1)];
    if (first > 0 === second > 0) largest = Math.max(largest, Math.abs(first + second));
  }
  return largest;
}

/**
 * Rounds to integer steps of `scale`, -127 to 127, so that errors cancel where it matters:
 * neighbouring pixels are similar, so the total error of a channel's weights counts, and
 * activations are positive, so the errors of channels add up. First rounds each weight to the
 * nearest step. Then moves weights to the step on the other side, nearest first, until the sum
 * of errors is within half a step; first in every channel, then in the whole filter (Guo et
 * al., "SQuant: on-the-fly data-free quantization via diagonal Hessian approximation", ICLR
 * 2022).
 * @param values channel by channel, `area` weights each
 */
export function roundFilter(values: Float32Array, scale: number, area: number): Int8Array<ArrayBuffer> {
  const exact = new Float64Array(values).map((value) => value / scale);
  const steps = new Int8Array(exact.map(Math.round));
  const channels = values.length / area;
  const errors = Float64Array.from({ length: channels }, (_, c) => {
    const [first, end] = [c * area, (c + 1) * area];
    let error = sumOfErrors(steps, exact, first, end);
    const by = -Math.sign(Math.round(error));
    for (let left = Math.abs(Math.round(error)); left > 0; left--)
      error += step(steps, exact, first, end, by);
    return error;
  });
  const surplus = Math.round(errors.reduce((total, error) => total + error, 0));
  const by = -Math.sign(surplus);
  const order = Array.from(errors.keys()).sort((a, b) => by * ((errors[a] ?? 0) - (errors[b] ?? 0)));
  for (const c of order.slice(0, Math.abs(surplus))) step(steps, exact, c * area, (c + 1) * area, by);
  return steps;
}

function sumOfErrors(steps: Int8Array, exact: Float64Array, first: number, end: number): number {
  let total = 0;
  for (let i = first; i < end; i++) total += (steps[i] ?? 0) - (exact[i] ?? 0);
  return total;
}

/**
 * Moves one weight in `[first, end)` by one step: the one nearest to its next step in the
 * direction `by` (+1 or −1).
 * @returns the change, or 0 if no weight can move
 */
function step(steps: Int8Array, exact: Float64Array, first: number, end: number, by: number): number {
  let nearest = -1;
  let least = Infinity;
  for (let i = first; i < end; i++) {
    const next = (steps[i] ?? 0) + by;
    const distance = by * (next - (exact[i] ?? 0));
    if (Math.abs(next) <= 127 && distance < least) [nearest, least] = [i, distance];
  }
  if (nearest < 0) return 0;
  steps[nearest] = (steps[nearest] ?? 0) + by;
  return by;
}
