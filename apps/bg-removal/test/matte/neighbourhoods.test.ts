import fc from 'fast-check';
import { createPlane, type Plane } from '../../src/matte/plane.js';
import { resample } from '../../src/matte/resample.js';
import { foregroundFloor } from '../../src/matte/stretch.js';
import { boxFilter, boxFilterCells, stretchMask } from '../support/matte.js';

const planes = fc
  .record({ width: fc.integer({ min: 1, max: 23 }), height: fc.integer({ min: 1, max: 23 }), seed: fc.nat() })
  .map(({ width, height, seed }): Plane => {
    const plane = createPlane(width, height);
    for (let i = 0; i < plane.data.length; i++) plane.data[i] = ((i * 7919 + seed) % 1009) / 1009;
    return plane;
  });

function naiveMean({ width, height, data }: Plane, radius: number, x: number, y: number): number {
  let sum = 0;
  let count = 0;
  for (let v = Math.max(0, y - radius); v <= Math.min(height - 1, y + radius); v++) {
    for (let u = Math.max(0, x - radius); u <= Math.min(width - 1, x + radius); u++) {
      sum += data[v * width + u] ?? NaN;
      count++;
    }
  }
  return sum / count;
}

test('the box filter is the mean of the window, clipped at the borders, for any radius', () => {
  fc.assert(
    fc.property(planes, fc.integer({ min: 1, max: 40 }), (plane, radius) => {
      const { width, height } = plane;
      const result = { width, height, data: plane.data.slice() };
      boxFilter(result, radius);
      const error = result.data.map((value, i) =>
        Math.abs(value - naiveMean(plane, radius, i % width, Math.floor(i / width))),
      );
      expect(Math.max(...error)).toBeLessThan(1e-5);
    }),
  );
});

test('filtering four channels at once gives the same as filtering each', () => {
  fc.assert(
    fc.property(planes, fc.integer({ min: 1, max: 40 }), (plane, radius) => {
      const { width, height, data } = plane;
      const cells = { width, height, data: new Float32Array(data.length * 4) };
      data.forEach((value, i) => cells.data.set([value, 1 - value, value / 2, -value], i * 4));
      const filtered = { width, height, data: data.slice() };
      boxFilter(filtered, radius);
      boxFilterCells(cells, radius);
      const wrong = filtered.data.findIndex((mean, i) =>
        [mean, 1 - mean, mean / 2, -mean].some(
          (value, channel) => Math.abs(value - (cells.data[i * 4 + channel] ?? NaN)) > 1e-6,
        ),
      );
      expect(wrong).toBe(-1);
    }),
  );
});

describe('resample', () => {
  const sizes = fc.integer({ min: 1, max: 50 });

  test('keeps a uniform plane uniform at any size', () => {
    fc.assert(
      fc.property(sizes, sizes, sizes, sizes, (w, h, toW, toH) => {
        const plane = createPlane(w, h);
        plane.data.fill(0.625);
        const result = resample(plane, toW, toH);
        expect([result.width, result.height]).toEqual([toW, toH]);
        expect(Math.max(...result.data.map((value) => Math.abs(value - 0.625)))).toBeLessThan(1e-5);
      }),
    );
  });

  test('stays within the range of its input', () => {
    fc.assert(
      fc.property(planes, sizes, sizes, (plane, width, height) => {
        const [min, max] = [Math.min(...plane.data), Math.max(...plane.data)];
        const { data } = resample(plane, width, height);
        expect(Math.min(...data)).toBeGreaterThanOrEqual(min - 1e-6);
        expect(Math.max(...data)).toBeLessThanOrEqual(max + 1e-6);
      }),
    );
  });

  test('keeps a ramp when enlarging', () => {
    const ramp: Plane = { width: 5, height: 1, data: Float32Array.of(0, 1, 2, 3, 4) };
    const { data } = resample(ramp, 10, 1);
    [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4].forEach((value, i) =>
      expect(data[i]).toBeCloseTo(value, 5),
    );
  });

  test('takes every pixel into account when shrinking', () => {
    const plane = createPlane(64, 1);
    plane.data[31] = 1;
    const sum = resample(plane, 8, 1).data.reduce((a, b) => a + b, 0);
    expect(sum).toBeCloseTo(1 / 8, 2);
  });
});

describe('stretch', () => {
  const mask = (...values: number[]): Plane => ({
    width: values.length,
    height: 1,
    data: Float32Array.from(values),
  });

  test("maps the network's range to 0-1", () => {
    const plane = mask(0.1, 0.5, 0.9);
    expect(stretchMask(plane)).toBe(true);
    [0, 0.5, 1].forEach((value, i) => expect(plane.data[i]).toBeCloseTo(value, 6));
  });

  test('rejects a mask whose maximum is below the floor or not a number', () => {
    const plane = mask(0, foregroundFloor - 0.01);
    expect(stretchMask(plane)).toBe(false);
    expect(plane.data[1]).toBeCloseTo(foregroundFloor - 0.01, 6);
    expect(stretchMask(mask(NaN, NaN))).toBe(false);
  });

  test('rejects a mask with only single spots of foreground', () => {
    const spots = { width: 1000, height: 100, data: new Float32Array(100_000) };
    spots.data.fill(1, 0, 19);
    expect(stretchMask(spots)).toBe(false);
    spots.data.fill(1, 0, 20);
    expect(stretchMask(spots)).toBe(true);
  });

  test('does not create a hole in a mask that is foreground everywhere', () => {
    const plane = mask(0.8, 0.9, 1);
    stretchMask(plane);
    expect(Math.min(...plane.data)).toBeGreaterThanOrEqual(0.79);
  });
});
