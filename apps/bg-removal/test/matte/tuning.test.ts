import fc from 'fast-check';
import { tuneAlpha, tuningTable } from '../../src/matte/tuning.js';
import { featherMatte, tuneMatte } from '../support/matte.js';

/** 8-bit alpha values, as in a matte. */
const alphas = fc.nat(255).map((value) => value / 255);
const strengths = fc.double({ min: 0.5, max: 2, noNaN: true });
/** Just below 255 the stretch divides by almost 0, so we would only compare rounding. */
const thresholds = fc.oneof(fc.double({ min: 0, max: 254, noNaN: true }), fc.constant(255));
const tunings = fc.record({ foregroundStrength: strengths, threshold: thresholds, feather: fc.constant(0) });
const neutral = { foregroundStrength: 1, threshold: 0, feather: 0 };

describe('strength and threshold', () => {
  test('neutral values change nothing', () => {
    fc.assert(
      fc.property(alphas, (alpha) => {
        expect(tuneAlpha(alpha, neutral)).toBe(alpha);
      }),
    );
    expect(tuningTable(neutral)).toEqual(Uint8Array.from({ length: 256 }, (_, i) => i));
  });

  test('stay in range and keep 0 and 1', () => {
    fc.assert(
      fc.property(alphas, tunings, (alpha, tuning) => {
        const tuned = tuneAlpha(alpha, tuning);
        expect(tuned).toBeGreaterThanOrEqual(0);
        expect(tuned).toBeLessThanOrEqual(1 + 1e-12);
        expect(tuneAlpha(0, tuning)).toBe(0);
        expect(tuneAlpha(1, tuning)).toBeCloseTo(1, 12);
      }),
    );
  });

  test('are monotone in alpha', () => {
    fc.assert(
      fc.property(alphas, alphas, tunings, (a, b, tuning) => {
        const [low, high] = a < b ? [a, b] : [b, a];
        expect(tuneAlpha(low, tuning)).toBeLessThanOrEqual(tuneAlpha(high, tuning) + 1e-12);
      }),
    );
  });

  test('more strength never gives less alpha, and a higher threshold never more', () => {
    fc.assert(
      fc.property(alphas, strengths, strengths, thresholds, (alpha, s, t, threshold) => {
        const [weak, strong] = s < t ? [s, t] : [t, s];
        const at = (foregroundStrength: number) =>
          tuneAlpha(alpha, { foregroundStrength, threshold, feather: 0 });
        expect(at(weak)).toBeLessThanOrEqual(at(strong) + 1e-12);
      }),
    );
    fc.assert(
      fc.property(alphas, strengths, thresholds, thresholds, (alpha, foregroundStrength, s, t) => {
        const [low, high] = s < t ? [s, t] : [t, s];
        const at = (threshold: number) => tuneAlpha(alpha, { foregroundStrength, threshold, feather: 0 });
        expect(at(high)).toBeLessThanOrEqual(at(low) + 1e-12);
      }),
    );
  });

  test('match the exact definitions, strength before threshold', () => {
    fc.assert(
      fc.property(alphas, strengths, fc.double({ min: 0, max: 254, noNaN: true }), (alpha, s, t) => {
        const strong = (s * alpha) / (1 + (s - 1) * alpha);
        const tau = t / 255;
        const expected = Math.max(0, (strong - tau) / (1 - tau));
        expect(tuneAlpha(alpha, { foregroundStrength: s, threshold: t, feather: 0 })).toBeCloseTo(
          expected,
          12,
        );
      }),
    );
    // The other order would give 0: 0.4 is below 0.5.
    expect(tuneAlpha(0.4, { foregroundStrength: 2, threshold: 127.5, feather: 0 })).toBeCloseTo(1 / 7, 12);
  });

  test('threshold 255 keeps only full alpha', () => {
    const table = tuningTable({ ...neutral, threshold: 255 });
    expect([...table]).toEqual([...new Array<number>(255).fill(0), 255]);
  });

  test('the matte is tuned value by value', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 50 }),
        fc.integer({ min: 1, max: 9 }),
        tunings,
        (values, run, tuning) => {
          const matte = Uint8Array.from(
            { length: values.length * run },
            (_, i) => values[Math.floor(i / run)] ?? 0,
          );
          const table = tuningTable(tuning);
          expect(tuneMatte(matte, tuning)).toEqual(matte.map((value) => table[value] ?? -1));
        },
      ),
    );
  });
});

describe('feather', () => {
  /** Columns of 255 to the left of the middle, 0 to the right. */
  function hardEdge(width: number, height: number): Uint8Array {
    return Uint8Array.from({ length: width * height }, (_, i) => (i % width < width / 2 ? 255 : 0));
  }

  /** The position where the profile crosses a level, interpolated between pixel centres. */
  function crossing(row: Uint8Array, level: number): number {
    const i = row.findIndex((value, at) => value >= level && (row[at + 1] ?? 0) < level);
    const [a = 0, b = 0] = [row[i], row[i + 1]];
    return i + (a - level) / (a - b);
  }

  test.each([1, 2, 3.5, 5, 8, 13, 24])('makes a hard edge %d pixels wide from 10 to 90 %%', (feather) => {
    const width = 200;
    const row = featherMatte(hardEdge(width, 80), width, 80, feather).subarray(40 * width, 41 * width);
    const measured = crossing(row, 0.1 * 255) - crossing(row, 0.9 * 255);
    expect(Math.abs(measured - feather)).toBeLessThan(Math.max(0.4, feather * 0.04));
  });

  test('0 changes nothing', () => {
    const matte = hardEdge(40, 30);
    expect(featherMatte(matte, 40, 30, 0)).toEqual(matte);
  });

  test('does not change a uniform matte, including its borders', () => {
    fc.assert(
      fc.property(fc.nat(255), fc.double({ min: 0.1, max: 24, noNaN: true }), (value, feather) => {
        const matte = new Uint8Array(37 * 23).fill(value);
        expect(featherMatte(matte, 37, 23, feather)).toEqual(matte);
      }),
    );
  });

  test('never leaves the range of its input', () => {
    const mattes = fc.uint8Array({ minLength: 19 * 13, maxLength: 19 * 13 });
    fc.assert(
      fc.property(mattes, fc.double({ min: 0.5, max: 10, noNaN: true }), (matte, feather) => {
        const soft = featherMatte(matte, 19, 13, feather);
        expect(Math.min(...soft)).toBeGreaterThanOrEqual(Math.min(...matte));
        expect(Math.max(...soft)).toBeLessThanOrEqual(Math.max(...matte));
      }),
      { numRuns: 25 },
    );
  });

  test('gives the same result whether or not tiles without edges are skipped', () => {
    // The same dot in the middle of a large matte, and in a small one within a single tile's
    // reach.
    const dot = (side: number): Uint8Array => {
      const matte = new Uint8Array(side * side);
      matte[Math.floor(side / 2) * side + Math.floor(side / 2)] = 255;
      return matte;
    };
    const large = featherMatte(dot(301), 301, 301, 6);
    const small = featherMatte(dot(41), 41, 41, 6);
    const window = (matte: Uint8Array, side: number): number[] =>
      Array.from({ length: 31 * 31 }, (_, i) => {
        const [x, y] = [(i % 31) - 15, Math.floor(i / 31) - 15];
        return matte[(Math.floor(side / 2) + y) * side + Math.floor(side / 2) + x] ?? -1;
      });
    expect(window(large, 301)).toEqual(window(small, 41));
  });
});
