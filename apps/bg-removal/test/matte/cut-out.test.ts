import { atNight } from '../../../../proof/vitest/at-night.js';
import { defaultSteps } from '../../src/matte/cut-out.js';
import { gridFor } from '../../src/matte/grid.js';
import { createPlane, type Plane } from '../../src/matte/plane.js';
import { correctAlpha, cutOut, estimateForeground } from '../support/matte.js';
import { colourError, softDisc, type Composite } from '../support/synthetic.js';

const neutral = { threshold: 0, feather: 0, foregroundStrength: 1 };

function maskOf(alpha: Uint8Array, width: number, height: number): Plane {
  return { width, height, data: Float32Array.from(alpha, (value) => value / 255) };
}

describe('foreground estimation', () => {
  test.each([[300, 200], ...atNight<[number, number]>([[1200, 800]])])(
    'at %d × %d takes the background out of the edge',
    (width, height) => {
      const scene = softDisc(width, height, width / 30);
      const before = colourError(scene);
      estimateForeground(scene.image, scene.alpha, gridFor(width, height));
      expect(colourError(scene)).toBeLessThan(before * 0.25);
    },
  );

  test('is about as good as the multilevel method', () => {
    const [width, height] = [180, 120];
    const scene = softDisc(width, height, 8);
    const rgb = Float64Array.from({ length: width * height * 3 }, (_, i) => {
      return (scene.image.data[Math.floor(i / 3) * 4 + (i % 3)] ?? 0) / 255;
    });
    const oracle = multilevelForeground(
      rgb,
      Float64Array.from(scene.alpha, (value) => value / 255),
      width,
      height,
    );
    const oracleRgba = new Uint8Array(width * height * 4);
    oracle.forEach((value, i) => (oracleRgba[Math.floor(i / 3) * 4 + (i % 3)] = Math.round(value * 255)));
    const oracleError = colourError(scene, oracleRgba);
    const before = colourError(scene);
    estimateForeground(scene.image, scene.alpha, gridFor(width, height));
    expect(oracleError).toBeLessThan(before * 0.1);
    expect(colourError(scene)).toBeLessThan(oracleError + before * 0.08);
  });

  test('does not change opaque pixels', () => {
    const scene = softDisc(200, 140, 10);
    const original = scene.image.data.slice();
    estimateForeground(scene.image, scene.alpha, gridFor(200, 140));
    const changed = scene.image.data.findIndex(
      (value, i) => scene.alpha[Math.floor(i / 4)] === 255 && value !== original[i],
    );
    expect(changed).toBe(-1);
  });

  test('gives about the same result with a tenth of the cells', () => {
    const small = softDisc(600, 400, 20);
    const large = softDisc(1200, 800, 40);
    estimateForeground(small.image, small.alpha, gridFor(600, 400));
    estimateForeground(large.image, large.alpha, gridFor(1200, 800));
    expect(gridFor(1200, 800).step).toBeGreaterThan(1);
    expect(Math.abs(colourError(small) - colourError(large))).toBeLessThan(4);
  });
});

describe('correcting alpha by colours', () => {
  function corrected({ image }: Composite, matte: Uint8Array): Uint8Array {
    const alpha = matte.slice();
    const grid = gridFor(image.width, image.height);
    correctAlpha(image, alpha, grid);
    return alpha;
  }
  const distance = (a: Uint8Array, b: Uint8Array): number =>
    a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0);

  test.each([
    [400, 300],
    [800, 600],
  ])('at %d × %d sharpens a matte that is softer than the image', (width, height) => {
    const scene = softDisc(width, height, 1);
    const { alpha: soft } = softDisc(width, height, width / 100);
    expect(distance(corrected(scene, soft), scene.alpha)).toBeLessThan(distance(soft, scene.alpha) * 0.5);
  });

  test('hardly changes an exact matte', () => {
    const scene = softDisc(400, 300, 12);
    const changes = corrected(scene, scene.alpha).map((value, i) => Math.abs(value - (scene.alpha[i] ?? 0)));
    expect(Math.max(...changes)).toBeLessThanOrEqual(12);
  });

  test('does not change the matte where foreground and background look the same', () => {
    const scene = softDisc(200, 150, 12);
    scene.image.data.fill(128);
    expect(distance(corrected(scene, scene.alpha), scene.alpha)).toBe(0);
  });

  test('does not change the matte far from pure colours', () => {
    const scene = softDisc(200, 150, 1);
    const translucent = new Uint8Array(200 * 150).fill(128);
    expect(distance(corrected(scene, translucent), translucent)).toBe(0);
  });

  test('keeps pure background and foreground', () => {
    const scene = softDisc(300, 200, 1);
    const { alpha: soft } = softDisc(300, 200, 8);
    const wrong = corrected(scene, soft).findIndex((value, i) => {
      const before = soft[i] ?? 0;
      return (before === 0 || before === 255) && value !== before;
    });
    expect(wrong).toBe(-1);
  });
});

describe('the cut-out', () => {
  test('has the mask as its alpha with neutral tuning, no refinement and no correction', () => {
    const scene = softDisc(120, 90, 12);
    cutOut(scene.image, maskOf(scene.alpha, 120, 90), neutral, {
      ...defaultSteps,
      decideWideAreas: false,
      refine: false,
      correctAlpha: false,
    });
    const errors = scene.alpha.map((value, i) => Math.abs((scene.image.data[i * 4 + 3] ?? 0) - value));
    // The two ends are drawRectangles in by 1 %, which is 2.55 levels.
    expect(Math.max(...errors)).toBeLessThanOrEqual(3);
  });

  test("follows the image's edge with refinement where the mask is blurred", () => {
    const [width, height] = [400, 300];
    const scene = softDisc(width, height, 1);
    const blurred = softDisc(width, height, 7);
    const errorOf = (refine: boolean): number => {
      const image = { ...scene.image, data: scene.image.data.slice() };
      cutOut(image, maskOf(blurred.alpha, width, height), neutral, {
        ...defaultSteps,
        refine: refine && defaultSteps.refine,
        correctAlpha: false,
      });
      return scene.alpha.reduce((sum, value, i) => sum + Math.abs(value - (image.data[i * 4 + 3] ?? 0)), 0);
    };
    expect(errorOf(true)).toBeLessThan(errorOf(false) * 0.7);
  });

  test('is solid where the network is unsure over a wide area, unless the strength is below 1 (glass)', () => {
    const side = 128;
    const alphaAt = (foregroundStrength: number): number => {
      const image = { width: side, height: side, data: new Uint8Array(side * side * 4).fill(255) };
      const mask = createPlane(side, side);
      // A solid half next to one at 70 %.
      for (let i = 0; i < mask.data.length; i++)
        mask.data[i] = i % side < side / 4 ? 0 : i % side < 64 ? 1 : 0.7;
      cutOut(image, mask, { ...neutral, foregroundStrength }, { ...defaultSteps, refine: false });
      return image.data[(64 * side + 100) * 4 + 3] ?? 0;
    };
    expect(alphaAt(1)).toBeGreaterThan(230);
    expect(alphaAt(0.99)).toBeLessThan(190);
  });

  test('has no colour in transparent pixels', () => {
    const scene = softDisc(160, 120, 8);
    cutOut(scene.image, maskOf(scene.alpha, 160, 120), { threshold: 12, feather: 2, foregroundStrength: 1 });
    const words = new Uint32Array(scene.image.data.buffer);
    expect(words.findIndex((word) => word >>> 24 === 0 && word !== 0)).toBe(-1);
    expect(words.filter((word) => word === 0).length).toBeGreaterThan(words.length / 3);
  });

  test('fails and keeps the image unchanged if there is no foreground', () => {
    const scene = softDisc(40, 30, 4);
    const original = scene.image.data.slice();
    expect(cutOut(scene.image, createPlane(8, 8), neutral)).toBeUndefined();
    expect(scene.image.data).toEqual(original);
  });

  test('fails and keeps the image unchanged if no pixel is opaque', () => {
    const scene = softDisc(40, 30, 4);
    const original = scene.image.data.slice();
    // No pixel lies between these peaks.
    const peaks = createPlane(80, 60);
    peaks.data.forEach((_, i) => (peaks.data[i] = i % 2));
    const steps = {
      refine: false,
      decideWideAreas: false,
      correctAlpha: false,
      estimateForeground: false,
    } as const;
    expect(cutOut(scene.image, peaks, neutral, steps)).toBeUndefined();
    expect(scene.image.data).toEqual(original);
  });

  test.each([
    [1, 1],
    [1, 500],
    [500, 1],
    [3, 2],
  ])('works at %d × %d', (width, height) => {
    const image = { width, height, data: new Uint8Array(width * height * 4).fill(200) };
    const mask = createPlane(16, 16);
    mask.data.fill(1);
    expect(cutOut(image, mask, neutral)).toEqual({ left: 0, top: 0, width, height });
    expect(image.data[3]).toBe(200);
  });
});

/**
 * Multilevel foreground estimation (Germer et al., "Fast Multi-Level Foreground Estimation",
 * ICPR 2020), implemented directly from the paper. The test oracle for the much faster
 * Blur-Fusion. Colours and alpha are 0-1.
 */
function multilevelForeground(
  image: Float64Array,
  alpha: Float64Array,
  width: number,
  height: number,
): Float64Array {
  const regularisation = 1e-5;
  const gradientWeight = 1;
  const levels = Math.ceil(Math.log2(Math.max(width, height)));
  let foreground = new Float64Array(3);
  let background = new Float64Array(3);
  let [w, h] = [1, 1];

  const nearest = (
    source: Float64Array,
    sw: number,
    sh: number,
    tw: number,
    th: number,
    channels: number,
  ) => {
    const target = new Float64Array(tw * th * channels);
    for (let y = 0; y < th; y++) {
      for (let x = 0; x < tw; x++) {
        const from = (Math.floor((y * sh) / th) * sw + Math.floor((x * sw) / tw)) * channels;
        for (let c = 0; c < channels; c++) target[(y * tw + x) * channels + c] = source[from + c] ?? 0;
      }
    }
    return target;
  };

  for (let level = 0; level <= levels; level++) {
    const lw = Math.round(width ** (level / levels));
    const lh = Math.round(height ** (level / levels));
    const i = nearest(image, width, height, lw, lh, 3);
    const a = nearest(alpha, width, height, lw, lh, 1);
    foreground = nearest(foreground, w, h, lw, lh, 3);
    background = nearest(background, w, h, lw, lh, 3);
    [w, h] = [lw, lh];
    const iterations = Math.max(w, h) <= 32 ? 10 : 2;
    for (let iteration = 0; iteration < iterations; iteration++) {
      for (let y = 0; y < h; y++) {
        for (let x = 0; x < w; x++) {
          const p = y * w + x;
          const a0 = a[p] ?? 0;
          const a1 = 1 - a0;
          let a00 = a0 * a0;
          const a01 = a0 * a1;
          let a11 = a1 * a1;
          const bf = [0, 0, 0];
          const bb = [0, 0, 0];
          for (let c = 0; c < 3; c++) {
            bf[c] = a0 * (i[p * 3 + c] ?? 0);
            bb[c] = a1 * (i[p * 3 + c] ?? 0);
          }
          for (const [dx, dy] of [
            [-1, 0],
            [1, 0],
            [0, -1],
            [0, 1],
          ] as const) {
            const q = Math.min(Math.max(y + dy, 0), h - 1) * w + Math.min(Math.max(x + dx, 0), w - 1);
            const weight = regularisation + gradientWeight * Math.abs(a0 - (a[q] ?? 0));
            a00 += weight;
            a11 += weight;
            for (let c = 0; c < 3; c++) {
              bf[c] = (bf[c] ?? 0) + weight * (foreground[q * 3 + c] ?? 0);
              bb[c] = (bb[c] ?? 0) + weight * (background[q * 3 + c] ?? 0);
            }
          }
          const determinant = a00 * a11 - a01 * a01;
          for (let c = 0; c < 3; c++) {
            const f = (a11 * (bf[c] ?? 0) - a01 * (bb[c] ?? 0)) / determinant;
            const b = (a00 * (bb[c] ?? 0) - a01 * (bf[c] ?? 0)) / determinant;
            foreground[p * 3 + c] = Math.min(1, Math.max(0, f));
            background[p * 3 + c] = Math.min(1, Math.max(0, b));
          }
        }
      }
    }
  }
  return foreground;
}
