import { cutOut, defaultSteps } from '../../apps/bg-removal/dist/matte/cut-out.js';
import { featherMatte } from '../../apps/bg-removal/dist/matte/feather.js';
import { estimateForeground } from '../../apps/bg-removal/dist/matte/foreground.js';
import { gridFor } from '../../apps/bg-removal/dist/matte/grid.js';
import { defaultTuning, tuneMatte } from '../../apps/bg-removal/dist/matte/tuning.js';

/**
 * @typedef {import('./scenes.mjs').Scene} Scene
 * @typedef {import('../../apps/bg-removal/dist/matte/tuning.js').Tuning} Tuning
 * @typedef {import('../../apps/bg-removal/dist/matte/cut-out.js').CutOutSteps} CutOutSteps
 * @typedef {import('../../apps/bg-removal/dist/images/rgba-image.js').RgbaImage} RgbaImage
 *
 * @typedef {object} CutOut
 * @property {Uint8Array} alpha 0-255
 * @property {Uint8Array} rgb straight colours
 */

/** @type {Tuning} */
const neutral = { threshold: 0, feather: 0, foregroundStrength: 1 };

/**
 * What is compared; each adds one step to the one before.
 * @satisfies {Record<string, { steps: CutOutSteps, tuning: Tuning }>}
 */
export const variants = {
  bare: { steps: { refine: false, correctAlpha: false, estimateForeground: false }, tuning: neutral },
  refined: { steps: { ...defaultSteps, correctAlpha: false, estimateForeground: false }, tuning: neutral },
  'refined + colour': { steps: { ...defaultSteps, correctAlpha: false }, tuning: neutral },
  'refined + colour + alpha': { steps: defaultSteps, tuning: neutral },
  'as served': { steps: defaultSteps, tuning: defaultTuning },
};

/**
 * @param {Pick<Scene, 'composite' | 'width' | 'height'>} scene
 * @returns {RgbaImage}
 */
function rgbaOf({ composite, width, height }) {
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; to < data.length; from += 3, to += 4) {
    data.set(composite.subarray(from, from + 3), to);
  }
  return { width, height, data };
}

/**
 * @param {RgbaImage} image
 * @returns {CutOut}
 */
function split({ width, height, data }) {
  const alpha = new Uint8Array(width * height);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < alpha.length; i++) {
    rgb.set(data.subarray(i * 4, i * 4 + 3), i * 3);
    alpha[i] = data[i * 4 + 3] ?? 0;
  }
  return { alpha, rgb };
}

/**
 * The cut-out of a scene by one variant.
 * @param {Pick<Scene, 'composite' | 'width' | 'height'>} scene
 * @param {{ mask: Float32Array, width: number, height: number }} mask
 * @param {{ steps: CutOutSteps, tuning: Tuning }} variant
 */
export function cutOutScene(scene, { mask, width, height }, { steps, tuning }) {
  const image = rgbaOf(scene);
  const found = cutOut(image, { width, height, data: mask.slice() }, tuning, steps);
  if (!found) image.data.fill(0);
  return split(image);
}

/**
 * The exact matte with the colours of the image, or with those that the estimation finds when
 * it is given the exact matte: that step alone.
 * @param {Scene} scene
 * @param {boolean} estimate
 * @returns {CutOut}
 */
export function coloursFromTruth(scene, estimate) {
  const image = rgbaOf(scene);
  if (estimate) estimateForeground(image, scene.alpha, gridFor(scene.width, scene.height));
  return { alpha: scene.alpha, rgb: split(image).rgb };
}

/**
 * The exact matte as threshold and feather make it by default.
 * @param {Scene} scene
 */
export function servedAlpha({ alpha, width, height }) {
  return featherMatte(tuneMatte(alpha, defaultTuning), width, height, defaultTuning.feather);
}
