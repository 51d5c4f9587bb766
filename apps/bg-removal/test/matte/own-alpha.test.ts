import type { RgbaImage } from '../../src/images/rgba-image.js';
import { defaultTuning } from '../../src/matte/tuning.js';
import { cutOut, featherMatte, tuneMatte } from '../support/matte.js';
import { softDisc } from '../support/synthetic.js';

const [width, height] = [160, 120];
const neutral = { threshold: 0, feather: 0, foregroundStrength: 1 };
const subject = [200, 60, 40] as const;

/** A soft disc that is already cut out, with a hidden colour in its transparent pixels. */
function alreadyCutOut(hidden: number): { image: RgbaImage; own: Uint8Array } {
  const { alpha: own } = softDisc(width, height, 9);
  const data = new Uint8Array(width * height * 4);
  own.forEach((value, i) => {
    data.set(value === 0 ? [hidden, hidden, hidden] : subject, i * 4);
    data[i * 4 + 3] = value;
  });
  return { image: { width, height, data }, own };
}

const maskOf = (alpha: Uint8Array) => ({
  width,
  height,
  data: Float32Array.from(alpha, (value) => value / 255),
});
const alphaOf = ({ data }: RgbaImage) => data.filter((_value, i) => i % 4 === 3);

describe('an image that is already cut out', () => {
  test.each([neutral, defaultTuning])('keeps its colours everywhere (%j)', (tuning) => {
    const { image, own } = alreadyCutOut(0);
    cutOut(image, maskOf(own), tuning);
    const opaque = [...own.keys()].filter((i) => image.data[i * 4 + 3] !== 0);
    expect(opaque.length).toBeGreaterThan(own.length / 20);
    const others = opaque.filter((i) => subject.some((value, c) => image.data[i * 4 + c] !== value));
    expect(others).toEqual([]);
  });

  test('keeps its soft edge if the matte has the same one, without multiplying them', () => {
    const { image, own } = alreadyCutOut(0);
    cutOut(image, maskOf(own), neutral);
    const largest = Math.max(...alphaOf(image).map((value, i) => Math.abs(value - (own[i] ?? 0))));
    expect(largest).toBeLessThanOrEqual(12);
  });

  test('is never more opaque than before, and never less than both matte and own alpha', () => {
    const { image, own } = alreadyCutOut(0);
    cutOut(image, maskOf(own), defaultTuning);
    const served = featherMatte(tuneMatte(own, defaultTuning), width, height, defaultTuning.feather);
    const wrong = alphaOf(image).findIndex((value, i) => {
      const [before = 0, expected = 0] = [own[i], served[i]];
      return value > before || value < Math.min(before, expected) - 12;
    });
    expect(wrong).toBe(-1);
  });

  test('gives the same result for any hidden colours', () => {
    const results = [0, 255].map((hidden) => {
      const { image, own } = alreadyCutOut(hidden);
      // Even a matte that differs from the own alpha must not reveal hidden colours.
      cutOut(image, maskOf(own.map((value) => Math.min(255, value * 2))), defaultTuning);
      return image.data;
    });
    expect(results[0]).toEqual(results[1]);
  });
});

test('removes the background from the edge of an opaque part of an image with transparency', () => {
  const plain = softDisc(width, height, 9);
  const withHole = softDisc(width, height, 9);
  for (let y = 0; y < 10; y++) withHole.image.data.fill(0, y * width * 4, (y * width + 10) * 4);
  cutOut(plain.image, maskOf(plain.alpha), neutral);
  cutOut(withHole.image, maskOf(withHole.alpha), neutral);
  const far = (60 * width + 30) * 4;
  expect(withHole.image.data.subarray(far, far + 400)).toEqual(plain.image.data.subarray(far, far + 400));
});
