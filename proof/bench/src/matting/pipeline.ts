import type { RgbaImage } from '@media-services/bg-removal/dist/images/rgba-image.js';
import { cutOut, defaultSteps, type CutOutSteps } from '@media-services/bg-removal/dist/matte/cut-out.js';
import { featherMatte } from '@media-services/bg-removal/dist/matte/feather.js';
import { estimateForeground } from '@media-services/bg-removal/dist/matte/foreground.js';
import { gridFor } from '@media-services/bg-removal/dist/matte/grid.js';
import { tuneMatte } from '@media-services/bg-removal/dist/matte/tune-matte.js';
import { defaultTuning, type Tuning } from '@media-services/bg-removal/dist/matte/tuning.js';

import type { Scene, Shot } from './scenes.js';

export interface CutOut {
  /** 0-255. */
  readonly alpha: Uint8Array;
  /** Straight colours. */
  readonly rgb: Uint8Array;
}

export interface Variant {
  readonly steps: CutOutSteps;
  readonly tuning: Tuning;
}

const neutral: Tuning = { threshold: 0, feather: 0, foregroundStrength: 1 };

/** The variants; each adds one step to the previous one. */
export const variants = {
  bare: {
    steps: { decideWideAreas: false, refine: false, correctAlpha: false, estimateForeground: false },
    tuning: neutral,
  },
  decided: {
    steps: { decideWideAreas: true, refine: false, correctAlpha: false, estimateForeground: false },
    tuning: neutral,
  },
  refined: { steps: { ...defaultSteps, correctAlpha: false, estimateForeground: false }, tuning: neutral },
  'refined + colour': { steps: { ...defaultSteps, correctAlpha: false }, tuning: neutral },
  'refined + colour + alpha': { steps: defaultSteps, tuning: neutral },
  'as served': { steps: defaultSteps, tuning: defaultTuning },
} satisfies Record<string, Variant>;

function rgbaOf({ composite, width, height }: Shot): RgbaImage {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; to < data.length; from += 3, to += 4) {
    data.set(composite.subarray(from, from + 3), to);
  }
  return { width, height, data };
}

function split({ width, height, data }: RgbaImage): CutOut {
  const alpha = new Uint8Array(width * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < alpha.length; i++) {
    rgb.set(data.subarray(i * 4, i * 4 + 3), i * 3);
    alpha[i] = data[i * 4 + 3] ?? 0;
  }
  return { alpha, rgb };
}

/** The network's output for a shot, 0-1, at its own size. */
export interface Mask {
  readonly mask: Float32Array;
  readonly width: number;
  readonly height: number;
}

/** The cut-out of a shot by one variant. */
export function cutOutScene(shot: Shot, { mask, width, height }: Mask, { steps, tuning }: Variant): CutOut {
  const image = rgbaOf(shot);
  const found = cutOut(image, { width, height, data: mask.slice() }, tuning, steps);
  if (!found) image.data.fill(0);
  return split(image);
}

/**
 * The exact matte with the colours of the image, or with those estimated from the exact matte:
 * tests the estimation alone.
 */
export function coloursFromTruth(scene: Scene, estimate: boolean): CutOut {
  const image = rgbaOf(scene);
  if (estimate) estimateForeground(image, scene.alpha, gridFor(scene.width, scene.height));
  return { alpha: scene.alpha, rgb: split(image).rgb };
}

/** The exact matte as threshold and feather make it by default. */
export function servedAlpha({ alpha, width, height }: Scene): Uint8Array {
  return featherMatte(tuneMatte(alpha, defaultTuning), width, height, defaultTuning.feather);
}
