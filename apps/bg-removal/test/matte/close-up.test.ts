import type { Rectangle } from '../../src/images/output.js';
import { withCloseUp } from '../../src/matte/close-up.js';
import { createPlane, type Plane } from '../../src/matte/plane.js';

const image = { width: 800, height: 600 };

/** The mask of a disc, with an edge of about two samples. */
function disc(area: Rectangle, { x, y, radius }: { x: number; y: number; radius: number }): Plane {
  const plane = createPlane(64, 64);
  for (let i = 0; i < plane.data.length; i++) {
    const across = area.left + ((i % 64) + 0.5) * (area.width / 64);
    const down = area.top + (Math.floor(i / 64) + 0.5) * (area.height / 64);
    const distance = (radius - Math.hypot(across - x, down - y)) / (area.width / 64);
    plane.data[i] = 1 / (1 + Math.exp(-2 * distance));
  }
  return plane;
}

const whole: Rectangle = { left: 0, top: 0, ...image };

/** @returns the final mask, and the parts of the image that the network saw again */
async function lookAgain(first: Plane, look: (area: Rectangle) => Plane) {
  const areas: Rectangle[] = [];
  const mask = await withCloseUp(first, image, (area) => {
    areas.push(area);
    return Promise.resolve(look(area));
  });
  return { mask, areas };
}

test('the network sees a small subject again, with room around it, and its edge becomes finer', async () => {
  const subject = { x: 300, y: 200, radius: 80 };
  const first = disc(whole, subject);
  const { mask, areas } = await lookAgain(first, (area) => disc(area, subject));
  const [area] = areas;
  expect(areas).toHaveLength(1);
  expect(area?.left).toBeGreaterThan(150);
  expect(area?.left).toBeLessThan(200);
  expect(area?.width).toBeGreaterThan(220);
  expect([mask.width, mask.height]).toEqual([128, 128]);
  /** The distance from the last sample below 0.1 to the first above 0.9, in pixels of the image. */
  const edgeWidth = ({ width, height, data }: Plane): number => {
    const row = data.subarray(Math.floor(height / 3) * width, (Math.floor(height / 3) + 1) * width);
    const inside = row.findIndex((value) => value > 0.9);
    const outside = row.subarray(0, inside).findLastIndex((value) => value < 0.1);
    return ((inside - outside) * image.width) / width;
  };
  expect(edgeWidth(mask)).toBeLessThan(0.8 * edgeWidth(first));
});

test.each([
  ['a subject that fills much of the image', { x: 400, y: 300, radius: 190 }],
  ['a long subject, whose close-up would be large', { x: 400, y: 300, radius: 0 }],
  ['an image without a subject', { x: -900, y: -900, radius: 1 }],
])('the network sees %s once', async (_, subject) => {
  const first = disc(whole, subject);
  if (subject.radius === 0) first.data.fill(1, 30 * 64, 34 * 64);
  const { mask, areas } = await lookAgain(first, () => createPlane(64, 64));
  expect(areas).toEqual([]);
  expect(mask).toBe(first);
});

test('the first mask counts alone if the close-up shows another subject', async () => {
  const first = disc(whole, { x: 300, y: 200, radius: 80 });
  const { mask, areas } = await lookAgain(first, (area) => disc(area, { x: 250, y: 260, radius: 60 }));
  expect(areas).toHaveLength(1);
  expect(mask).toBe(first);
});

test('a subject at the border of the image keeps all of the close-up there', async () => {
  const subject = { x: 0, y: 0, radius: 120 };
  const { mask } = await lookAgain(disc(whole, subject), (area) => disc(area, subject));
  expect(mask.data[0]).toBeGreaterThan(0.999);
});
