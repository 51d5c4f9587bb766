import { roundFilter } from '../dist/graph/round-filter.js';
import { seededNumbers } from './support/small-network.js';

const area = 9;
const scale = 0.02;

/** 40 channels of 9 weights, up to 127 steps; rounded one by one their errors lean to one side. */
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

test.each([1, 2, 3])('errors cancel out in every channel and in the filter (seed %i)', (seed) => {
  const values = filter(seed);
  const errors = errorsOf(values, roundFilter(values, scale, area));
  const ofChannels = Array.from({ length: 40 }, (_, c) => sum(errors.slice(c * area, (c + 1) * area)));
  // Weight by weight each channel would be off by about -2.7, the filter by more than 100.
  expect(Math.max(...ofChannels.map(Math.abs))).toBeLessThan(1.5);
  expect(Math.abs(sum(errors))).toBeLessThan(0.51);
  expect(Math.max(...errors.map(Math.abs))).toBeLessThan(1);
});

test('weights that need no other step are rounded to the nearest', () => {
  const values = Float32Array.of(0.4, -0.4, 0.3, -0.3, 12.2, -7.2, 1, 2, 3).map((value) => value * scale);
  expect(Array.from(roundFilter(values, scale, area))).toEqual([0, 0, 0, 0, 12, -7, 1, 2, 3]);
});

test('the weight that is nearest to its next step goes there', () => {
  const values = Float32Array.of(0.1, 0.45, 0.2, 0.1, 0.15, 0, 0, 0, 0).map((value) => value * scale);
  expect(Array.from(roundFilter(values, scale, area))).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0]);
});

test('no weight goes beyond 127 steps', () => {
  // The error of the others would be made up for by the largest, if that could go further.
  const values = Float32Array.of(127, 126.6, 126.6, -127).map((value) => value * scale);
  const steps = roundFilter(values, scale, 1);
  expect(Math.max(...steps)).toBe(127);
  expect(Math.min(...steps)).toBe(-127);
  const mostly = Float32Array.of(127, 127, 127, 127).map((value) => value * scale * 1.0035);
  expect(Array.from(roundFilter(mostly, scale, 4))).toEqual([127, 127, 127, 127]);
});
