import fc from 'fast-check';
import { featherMatte } from '../../dist/matte/feather.js';

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly value: number;
}

/** Larger than a tile, so that edges lie inside, on and between tiles; mostly plain, as mattes are. */
const mattes = fc.record({
  width: fc.integer({ min: 1, max: 90 }),
  height: fc.integer({ min: 1, max: 90 }),
  rectangles: fc.array(
    fc.record({
      left: fc.nat(80),
      top: fc.nat(80),
      width: fc.integer({ min: 1, max: 40 }),
      height: fc.integer({ min: 1, max: 40 }),
      value: fc.nat(255),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

function drawn(width: number, height: number, rectangles: readonly Rectangle[]): Uint8Array {
  const alpha = new Uint8Array(width * height);
  for (const { left, top, width: wide, height: high, value } of rectangles) {
    for (let y = top; y < Math.min(top + high, height); y++) {
      alpha.fill(value, y * width + Math.min(left, width), y * width + Math.min(left + wide, width));
    }
  }
  return alpha;
}

/** The share of a Gaussian that falls on each whole pixel around its centre, as the 10-90 % width defines it. */
function weightsOf(feather: number): number[] {
  const sigma = feather / 2.563;
  const radius = Math.max(1, Math.ceil(3 * sigma));
  const weights = Array.from({ length: 2 * radius + 1 }, (_, i) => {
    let sum = 0;
    for (let x = i - radius - 0.495; x < i - radius + 0.5; x += 0.01) {
      sum += Math.exp(-(x * x) / (2 * sigma * sigma));
    }
    return sum;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** The definition: every pixel from all of its neighbours, those outside as the nearest inside. */
function byDefinition(
  alpha: Uint8Array,
  width: number,
  height: number,
  weights: readonly number[],
): number[] {
  const radius = (weights.length - 1) / 2;
  const inside = (at: number, size: number) => Math.min(Math.max(at, 0), size - 1);
  return Array.from(alpha, (_, i) => {
    let sum = 0;
    for (const [row, down] of weights.entries()) {
      const y = inside(Math.floor(i / width) + row - radius, height);
      for (const [column, across] of weights.entries()) {
        sum += down * across * (alpha[y * width + inside((i % width) + column - radius, width)] ?? NaN);
      }
    }
    return sum;
  });
}

test.each([0.7, 2, 4])('a feather of %d pixels is the Gaussian of its definition, everywhere', (feather) => {
  const weights = weightsOf(feather);
  fc.assert(
    fc.property(mattes, ({ width, height, rectangles }) => {
      const alpha = drawn(width, height, rectangles);
      const expected = byDefinition(alpha, width, height, weights);
      const worst = featherMatte(alpha, width, height, feather).reduce(
        (most, value, i) => Math.max(most, Math.abs(value - (expected[i] ?? NaN))),
        0,
      );
      // Rounded to whole numbers, and integrals in steps.
      expect(worst).toBeLessThan(0.75);
    }),
    { numRuns: 10 },
  );
});
