import fc from 'fast-check';
import { featherMatte } from '../support/matte.js';

interface Rectangle {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly value: number;
}

/**
 * Larger than a tile, so that edges lie inside, on and between tiles. Below full height, so
 * that they get the full blur.
 */
const mattes = mattesOf(249, 1);

function mattesOf(greatest: number, most: number) {
  return fc.record({
    width: fc.integer({ min: 1, max: 90 }),
    height: fc.integer({ min: 1, max: 90 }),
    rectangles: fc.array(
      fc.record({
        left: fc.nat(80),
        top: fc.nat(80),
        width: fc.integer({ min: 1, max: 40 }),
        height: fc.integer({ min: 1, max: 40 }),
        value: fc.oneof(fc.nat(greatest), fc.constant(greatest)),
      }),
      { minLength: 1, maxLength: most },
    ),
  });
}

function drawRectangles(width: number, height: number, rectangles: readonly Rectangle[]): Uint8Array {
  const alpha = new Uint8Array(width * height);
  for (const { left, top, width: wide, height: high, value } of rectangles) {
    for (let y = top; y < Math.min(top + high, height); y++) {
      alpha.fill(value, y * width + Math.min(left, width), y * width + Math.min(left + wide, width));
    }
  }
  return alpha;
}

/** The share of a Gaussian on each pixel around its centre, for the given 10-90 % width. */
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

/** Reference implementation: a weighted sum of all neighbours, with replicated borders. */
function referenceBlur(
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

test.each([0.7, 2, 4])(
  'a feather of %d pixels blurs soft areas with the Gaussian that defines it',
  (feather) => {
    const weights = weightsOf(feather);
    fc.assert(
      fc.property(mattes, ({ width, height, rectangles }) => {
        const alpha = drawRectangles(width, height, rectangles);
        const expected = referenceBlur(alpha, width, height, weights);
        const worst = featherMatte(alpha, width, height, feather).reduce(
          (most, value, i) => Math.max(most, Math.abs(value - (expected[i] ?? NaN))),
          0,
        );
        // Tolerance for integer rounding and stepwise integration.
        expect(worst).toBeLessThan(0.75);
      }),
      { numRuns: 10 },
    );
  },
);

test.each([0.0001, 0.005, 0.1])('a feather of %d pixels changes nothing', (feather) => {
  const alpha = edge({ own: 0, place: 0.3, top: 255 });
  expect(featherMatte(alpha, side, side, feather)).toEqual(alpha);
});

/** The error function (Abramowitz and Stegun 7.1.26). */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const polynomial =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - polynomial * Math.exp(-x * x));
}

const side = 120;

/** An edge that rises from 0 to `top` along the rows, with a given 10-90 % width and subpixel position. */
function edge({ own, place, top }: { own: number; place: number; top: number }): Uint8Array {
  const sigma = own / 2.563;
  const row = Uint8Array.from({ length: side }, (_, x) => {
    // A pixel is the mean over its square.
    const parts = Array.from({ length: 16 }, (_part, k) => {
      const distance = x - side / 2 - place + (k + 0.5) / 16 - 0.5;
      return sigma > 0 ? (1 + erf(distance / sigma / Math.SQRT2)) / 2 : distance > 0 ? 1 : 0;
    });
    return Math.round((parts.reduce((sum: number, part) => sum + part, 0) / 16) * top);
  });
  return Uint8Array.from({ length: side * side }, (_, i) => row[i % side] ?? 0);
}

function widthOf(matte: Uint8Array, top: number): number {
  const row = matte.subarray((side / 2) * side, (side / 2 + 1) * side);
  const crossing = (level: number): number => {
    const x = row.findIndex((value) => value >= level);
    const [before = 0, after = 0] = [row[x - 1], row[x]];
    return x - 1 + (level - before) / (after - before);
  };
  return crossing(0.9 * top) - crossing(0.1 * top);
}

test.each([2, 4, 12])('a feather of %d pixels gives hard edges that width', (feather) => {
  for (const top of [255, 120]) {
    for (const place of [0, 0.3, 0.5]) {
      const width = widthOf(featherMatte(edge({ own: 0, place, top }), side, side, feather), top);
      expect(Math.abs(width - feather)).toBeLessThan(0.75);
    }
  }
});

test.each([
  [4, 2],
  [4, 4],
  [12, 6],
  [12, 12],
])('a feather of %d pixels softens an edge that is %d wide less than the plain Gaussian', (feather, own) => {
  for (const place of [0, 0.3, 0.5]) {
    const width = widthOf(featherMatte(edge({ own, place, top: 255 }), side, side, feather), 255);
    expect(width).toBeGreaterThan(Math.max(feather, own) - 0.5);
    expect(width).toBeLessThan(Math.hypot(feather, own) - 0.1);
  }
});

test.each([
  [2, 12],
  [4, 20],
])('a feather of %d pixels hardly widens an edge that is %d wide, and smooths it', (feather, own) => {
  const rough = edge({ own, place: 0, top: 255 });
  for (let i = 0; i < rough.length; i++) {
    const value = rough[i] ?? 0;
    if (value > 30 && value < 225) rough[i] = value + ((i * 7919) % 21) - 10;
  }
  const soft = featherMatte(rough, side, side, feather);
  const roughness = (matte: Uint8Array) =>
    matte.reduce((sum, value, i) => sum + (i < side ? 0 : Math.abs(value - (matte[i - side] ?? 0))), 0);
  expect(roughness(soft)).toBeLessThan(roughness(rough) / 3);
  expect(widthOf(featherMatte(edge({ own, place: 0, top: 255 }), side, side, feather), 255)).toBeLessThan(
    1.1 * own,
  );
});

test('the page feathers as the service does, up to rounding', async () => {
  const script = new URL('../../../../nginx/html/js/image/worker/feather.js', import.meta.url);
  const page = (await import(script.href)) as { featherMatte: typeof featherMatte };
  const feathers = fc.double({ min: 0.1, max: 30, noNaN: true });
  fc.assert(
    fc.property(mattesOf(255, 4), feathers, ({ width, height, rectangles }, feather) => {
      const alpha = drawRectangles(width, height, rectangles);
      const expected = featherMatte(alpha, width, height, feather);
      const onPage = page.featherMatte(alpha, width, height, feather);
      const wrong = expected.findIndex((value, i) => Math.abs(value - (onPage[i] ?? NaN)) > 1);
      expect(wrong).toBe(-1);
    }),
  );
});
