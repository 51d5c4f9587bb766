import { createPlane, type Plane } from '../../src/matte/plane.js';
import { decideWideAreas } from '../support/matte.js';

/** 256 × 256: areas within 6 pixels of a decided one are never wide. */
function mask(valueAt: (x: number, y: number) => number): Plane {
  const plane = createPlane(256, 256);
  for (let i = 0; i < plane.data.length; i++) plane.data[i] = valueAt(i % 256, i >> 8);
  return plane;
}

const decided = (plane: Plane): Float32Array => {
  decideWideAreas(plane);
  return plane.data;
};

test.each([
  [0.8, 0.98, 1],
  [0.6, 0.7, 0.85],
  [0.5, 0.5, 0.5],
  [0.3, 0.3, 0.3],
])('a wide area at %d ends between %d and %d', (value, from, to) => {
  const data = decided(mask((x) => (x < 100 ? 1 : value)));
  expect(data[128 * 256 + 180]).toBeGreaterThanOrEqual(Math.fround(from));
  expect(data[128 * 256 + 180]).toBeLessThanOrEqual(Math.fround(to));
  expect(data[128 * 256 + 50]).toBe(1);
});

test('the smallest wide area is found in the last corner, too, where windows are cut', () => {
  const data = decided(mask((x, y) => (x >= 249 && y >= 249 ? 0.8 : 1)));
  expect(data[255 * 256 + 255]).toBeGreaterThan(0.805);
});

test('the change fades in from the border of the area', () => {
  const data = decided(mask((x) => (x < 100 ? 1 : 0.7)));
  const row = Array.from(data.subarray(128 * 256 + 100, 128 * 256 + 130));
  expect(row[0]).toBeCloseTo(0.7, 1);
  for (const [i, value] of row.entries()) expect(value).toBeGreaterThanOrEqual((row[i - 1] ?? 0) - 1e-6);
  for (const [i, value] of row.slice(1).entries()) expect(value - (row[i] ?? 0)).toBeLessThan(0.08);
});

test('a spot within the background does not change, even if it is undecided over a wide area', () => {
  const spot = mask((x, y) => Math.max(0.01, 0.9 - Math.hypot(x - 128, y - 128) / 40));
  const before = spot.data.slice();
  expect(decided(spot)).toEqual(before);
});

test('edges, strands and small holes do not change', () => {
  const narrow = mask((x, y) => {
    if (y < 80) return Math.min(1, Math.max(0, (x - 120) / 10)); // an edge 10 pixels wide
    if (y < 160) return x % 16 < 8 ? 0.5 : 0; // strands
    return Math.hypot(x - 128, y - 200) < 5 ? 0.4 : 1; // a hole
  });
  const before = narrow.data.slice();
  expect(decided(narrow)).toEqual(before);
});
