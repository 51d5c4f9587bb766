/**
 * Errors of a matte and of its colours against the truth. Alpha is 0-255 everywhere.
 * @typedef {object} Figures
 * @property {number} mae mean absolute error of alpha, 0-1
 * @property {number} sad sum of absolute errors of alpha / 1000
 * @property {number} grad gradient error / 1000
 * @property {number} iou of what is at least half opaque
 * @property {number} colour `mean|αF−α*F*|` where 0.02 < α* < 0.98; NaN where F* is not known
 */

const sigma = 1.4;
const radius = Math.ceil(3 * sigma);
const taps = Float64Array.from({ length: 2 * radius + 1 }, (_, i) =>
  Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
);
const total = taps.reduce((sum, tap) => sum + tap, 0);
const smooth = taps.map((tap) => tap / total);
const slope = smooth.map((tap, i) => (-(i - radius) / (sigma * sigma)) * tap);

/**
 * @param {Float32Array} source
 * @param {number} width
 * @param {Float64Array} kernel
 * @param {'rows' | 'columns'} along
 */
function filter(source, width, kernel, along) {
  const height = source.length / width;
  const target = new Float32Array(source.length);
  const step = along === 'rows' ? 1 : width;
  const size = along === 'rows' ? width : height;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const position = along === 'rows' ? x : y;
      let sum = 0;
      for (let k = 0; k < kernel.length; k++) {
        // Borders are replicated.
        const offset = Math.min(Math.max(position + k - radius, 0), size - 1) - position;
        sum += (source[at + offset * step] ?? 0) * (kernel[k] ?? 0);
      }
      target[at] = sum;
    }
  }
  return target;
}

/**
 * Derivative-of-Gaussian magnitudes, the base of the gradient error (Rhemann et al., CVPR 2009).
 * @param {Uint8Array} alpha
 * @param {number} width
 */
function gradient(alpha, width) {
  const unit = Float32Array.from(alpha, (value) => value / 255);
  const across = filter(filter(unit, width, slope, 'rows'), width, smooth, 'columns');
  const down = filter(filter(unit, width, slope, 'columns'), width, smooth, 'rows');
  return across.map((value, i) => Math.hypot(value, down[i] ?? 0));
}

/**
 * @param {import('./pipeline.mjs').CutOut} result
 * @param {Pick<import('./scenes.mjs').Scene, 'alpha' | 'foreground' | 'width'>} truth
 * @returns {Figures}
 */
export function score(result, { alpha, foreground, width }) {
  let sad = 0;
  let both = 0;
  let either = 0;
  let colour = 0;
  let edge = 0;
  for (const [i, t] of alpha.entries()) {
    const a = result.alpha[i] ?? 0;
    sad += Math.abs(a - t) / 255;
    if (a >= 128 && t >= 128) both++;
    if (a >= 128 || t >= 128) either++;
    if (foreground === null || t <= 0.02 * 255 || t >= 0.98 * 255) continue;
    edge++;
    for (let c = i * 3; c < i * 3 + 3; c++) {
      colour += Math.abs((a * (result.rgb[c] ?? 0) - t * (foreground[c] ?? 0)) / (255 * 255)) / 3;
    }
  }
  const ours = gradient(result.alpha, width);
  const theirs = gradient(alpha, width);
  const grad = ours.reduce((sum, value, i) => sum + (value - (theirs[i] ?? 0)) ** 2, 0);
  return {
    mae: sad / alpha.length,
    sad: sad / 1000,
    grad: grad / 1000,
    iou: either === 0 ? 1 : both / either,
    colour: foreground === null ? Number.NaN : edge === 0 ? 0 : colour / edge,
  };
}

/**
 * Mean of each figure.
 * @param {readonly Figures[]} scores
 * @returns {Figures}
 */
export function meanFigures(scores) {
  /** @param {keyof Figures} key */
  const mean = (key) => scores.reduce((sum, figures) => sum + figures[key], 0) / scores.length;
  return { mae: mean('mae'), sad: mean('sad'), grad: mean('grad'), iou: mean('iou'), colour: mean('colour') };
}
