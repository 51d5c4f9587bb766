import type { RgbaImage } from '../../src/images/rgba-image.js';
import { cutOutOutline } from '../../src/matte/finished-cut-out.js';
import { neutralTuning, type Tuning } from '../../src/matte/tuning.js';
import { keepOwnAlpha } from '../support/matte.js';
import { softDisc } from '../support/synthetic.js';

const [width, height] = [160, 120];
const subject = [200, 60, 40] as const;

/** A soft disc that is already cut out, with a hidden colour in its transparent pixels, and a spot beside it. */
function alreadyCutOut(hidden = 9): RgbaImage {
  const { alpha } = softDisc(width, height, 9);
  const data = new Uint8Array(width * height * 4);
  for (const [i, value] of alpha.entries()) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const own = x >= 4 && x < 24 && y >= 4 && y < 16 ? 255 : value;
    data.set(own === 0 ? [hidden, hidden, hidden, 0] : [...subject, own], i * 4);
  }
  return { width, height, data };
}

const alphaOf = ({ data }: RgbaImage) => data.filter((_value, i) => i % 4 === 3);

/** The finished image; `rejected` tells which samples of its box go. */
function kept(
  tuning: Partial<Tuning>,
  rejected: (x: number, y: number) => boolean = () => false,
  hidden?: number,
) {
  const image = alreadyCutOut(hidden);
  const outline = cutOutOutline(image);
  if (outline === undefined) throw new Error('has no outline');
  const samples = outline.visible.map((_, at) => Number(rejected(at % 256, Math.floor(at / 256))));
  const area = keepOwnAlpha(
    image,
    { kind: 'own-alpha', outline, rejected: samples },
    { ...neutralTuning, ...tuning },
  );
  return { image, area };
}

test('without tuning, alpha and visible colours stay, and hidden colours go', () => {
  const { image, area } = kept({});
  const before = alreadyCutOut();
  expect(alphaOf(image)).toEqual(alphaOf(before));
  const changed = [...image.data.keys()].filter((i) => image.data[i] !== before.data[i]);
  expect(changed.every((i) => image.data[i] === 0 && before.data[i] === 9)).toBe(true);
  expect(area).toMatchObject({ left: 4, top: 4 });
});

test('a threshold and a strength that the client sets act on the own alpha', () => {
  const before = alphaOf(alreadyCutOut());
  const half = before.findIndex((value) => value > 110 && value < 145);
  expect(alphaOf(kept({ threshold: 200 }).image)[half]).toBe(0);
  expect(alphaOf(kept({ foregroundStrength: 2 }).image)[half]).toBeGreaterThan((before[half] ?? 0) + 20);
});

test('a feather that the client sets softens the edge on both sides, in the colours of the subject', () => {
  const { image } = kept({ feather: 10 });
  const before = alphaOf(alreadyCutOut());
  const spread = [...before.keys()].filter((i) => before[i] === 0 && (image.data[i * 4 + 3] ?? 0) > 0);
  expect(spread.length).toBeGreaterThan(100);
  for (const i of spread) {
    const error = Math.max(...subject.map((level, c) => Math.abs(level - (image.data[i * 4 + c] ?? 0))));
    expect(error).toBeLessThanOrEqual(2);
  }
});

test('a feather reveals no hidden colour', () => {
  expect(kept({ feather: 24 }, undefined, 0).image.data).toEqual(
    kept({ feather: 24 }, undefined, 255).image.data,
  );
});

test('removes rejected samples, and the visible area follows', () => {
  const { image, area } = kept({}, (x, y) => x < 60 && y < 50);
  expect(image.data[(8 * width + 10) * 4 + 3]).toBe(0);
  expect(image.data[(60 * width + 80) * 4 + 3]).toBe(255);
  expect(area?.left).toBeGreaterThan(24);
});

test('is undefined if nothing is left', () => {
  expect(kept({}, () => true).area).toBeUndefined();
});
