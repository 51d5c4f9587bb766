import { maxPairSum, quantiseFilter, roundFilter } from '../src/round-filter.js';
import { seededNumbers } from './support/small-network.js';

const area = 9;
const scale = 0.02;

/** 40 channels of 9 weights, up to 127 steps. Rounded individually, their errors would be biased. */
function filter(seed: number): Float32Array {
  const random = seededNumbers(seed);
  return Float32Array.from({ length: 40 * area }, (_, i) =>
    i === 0 ? 127 * scale : (Math.trunc(random() * 100) + 0.3) * scale,
  );
}

function errorsOf(values: Float32Array, steps: Int8Array): number[] {
  return Array.from(steps, (step, i) => step - (values[i] ?? NaN) / scale);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

test.each([1, 2, 3])('errors cancel in every channel and in the filter (seed %i)', (seed) => {
  const values = filter(seed);
  const errors = errorsOf(values, roundFilter(values, scale, area));
  const ofChannels = Array.from({ length: 40 }, (_, c) => sum(errors.slice(c * area, (c + 1) * area)));
  // Rounded individually, each channel would be off by about -2.7 and the filter by more than
  // 100.
  expect(Math.max(...ofChannels.map(Math.abs))).toBeLessThan(1.5);
  expect(Math.abs(sum(errors))).toBeLessThan(0.51);
  expect(Math.max(...errors.map(Math.abs))).toBeLessThan(1);
});

test('weights are rounded to the nearest step if errors already cancel', () => {
  const values = Float32Array.of(0.4, -0.4, 0.3, -0.3, 12.2, -7.2, 1, 2, 3).map((value) => value * scale);
  expect(Array.from(roundFilter(values, scale, area))).toEqual([0, 0, 0, 0, 12, -7, 1, 2, 3]);
});

test('moves the weight that is nearest to its next step', () => {
  const values = Float32Array.of(0.1, 0.45, 0.2, 0.1, 0.15, 0, 0, 0, 0).map((value) => value * scale);
  expect(Array.from(roundFilter(values, scale, area))).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0]);
});

test('no weight exceeds 127 steps', () => {
  // The largest weight would compensate the error of the others if it could go further.
  const values = Float32Array.of(127, 126.6, 126.6, -127).map((value) => value * scale);
  const steps = roundFilter(values, scale, 1);
  expect(Math.max(...steps)).toBe(127);
  expect(Math.min(...steps)).toBe(-127);
  const mostly = Float32Array.of(127, 127, 127, 127).map((value) => value * scale * 1.0035);
  expect(Array.from(roundFilter(mostly, scale, 4))).toEqual([127, 127, 127, 127]);
});

test.each([
  [2, 9],
  [3, 9],
  [64, 9],
  [64, 1],
])(
  'no two neighbouring products of a filter with %i channels in %i positions can saturate',
  (channels, area) => {
    const random = seededNumbers(channels + area);
    for (let n = 0; n < 20; n++) {
      // All of one sign: every pair is a candidate.
      const values = Float32Array.from({ length: channels * area }, () => Math.abs(random()));
      const { steps, scale } = quantiseFilter(values, area);
      // Two products as the processor adds them, for any activations.
      expect(255 * maxPairSum(steps, area)).toBeLessThanOrEqual(32_767);
      expect(maxPairSum(steps, area)).toBeGreaterThan(120);
      for (const [i, step] of steps.entries())
        expect(Math.abs(step * scale - (values[i] ?? NaN))).toBeLessThan(1.01 * scale);
    }
  },
);

test('pairs follow the channels of a position, then the next position', () => {
  // Two channels in two positions, channel by channel: (1, 3), (100, 40).
  expect(maxPairSum(Int8Array.of(1, 100, 3, 40), 2)).toBe(140);
  // Storage order would pair 100 with 27.
  expect(maxPairSum(Int8Array.of(100, 27, -100, -27), 2)).toBe(0);
  // With three channels, any neighbours may be a pair: 2 + 70 across two positions.
  expect(maxPairSum(Int8Array.of(1, 70, 0, -5, 2, -6), 2)).toBe(72);
});

test('a filter that cannot saturate keeps the finest scale', () => {
  const values = Float32Array.of(127, -127, 64, 64).map((value) => value * scale);
  const rounded = quantiseFilter(values, 1);
  expect(rounded.scale).toBeCloseTo(scale, 8);
  expect(Array.from(rounded.steps)).toEqual([127, -127, 64, 64]);
});
