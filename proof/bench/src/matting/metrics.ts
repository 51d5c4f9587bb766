import type { CutOut } from './pipeline.js';
import type { Scene } from './scenes.js';

/** Errors of a matte and of its colours against the truth. Alpha is 0-255 everywhere. */
export interface Figures {
  /** Mean absolute error of alpha, 0-1. */
  readonly mae: number;
  /** Sum of absolute errors of alpha / 1000. */
  readonly sad: number;
  /** Gradient error / 1000. */
  readonly grad: number;
  /** IoU of the pixels that are at least half opaque. */
  readonly iou: number;
  /** `mean|αF−α*F*|` where 0.02 < α* < 0.98; NaN where F* is not known. */
  readonly colour: number;
}

const sigma = 1.4;
const radius = Math.ceil(3 * sigma);
const taps = Float64Array.from({ length: 2 * radius + 1 }, (_, i) =>
  Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
);
const total = taps.reduce((sum, tap) => sum + tap, 0);
const smooth = taps.map((tap) => tap / total);
const slope = smooth.map((tap, i) => (-(i - radius) / (sigma * sigma)) * tap);

function filter(
  source: Float32Array,
  width: number,
  kernel: Float64Array,
  along: 'rows' | 'columns',
): Float32Array {
  const height = source.length / width;
  const target = new Float32Array(source.length);
  const step = along === 'rows' ? 1 : width;
  const size = along === 'rows' ? width : height;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const position = along === 'rows' ? x : y;
      let sum = 0;
      if (position >= radius && position < size - radius) {
        for (let k = 0, i = at - radius * step; k < kernel.length; k++, i += step)
          sum += (source[i] ?? 0) * (kernel[k] ?? 0);
        target[at] = sum;
        continue;
      }
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

/** Of the scenes' true mattes, which are compared with several results. */
const trueGradients = new WeakMap<Uint8Array, Float32Array>();

function trueGradient(alpha: Uint8Array, width: number): Float32Array {
  const found = trueGradients.get(alpha) ?? gradient(alpha, width);
  trueGradients.set(alpha, found);
  return found;
}

/** Derivative-of-Gaussian magnitudes, the base of the gradient error (Rhemann et al., CVPR 2009). */
function gradient(alpha: Uint8Array, width: number): Float32Array {
  const unit = Float32Array.from(alpha, (value) => value / 255);
  const across = filter(filter(unit, width, slope, 'rows'), width, smooth, 'columns');
  const down = filter(filter(unit, width, slope, 'columns'), width, smooth, 'rows');
  return across.map((value, i) => Math.hypot(value, down[i] ?? 0));
}

export function score(result: CutOut, truth: Pick<Scene, 'alpha' | 'foreground' | 'width'>): Figures {
  const { alpha, foreground, width } = truth;
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
  const theirs = trueGradient(alpha, width);
  const grad = ours.reduce((sum, value, i) => sum + (value - (theirs[i] ?? 0)) ** 2, 0);
  return {
    mae: sad / alpha.length,
    sad: sad / 1000,
    grad: grad / 1000,
    iou: either === 0 ? 1 : both / either,
    colour: foreground === null ? Number.NaN : edge === 0 ? 0 : colour / edge,
  };
}

/** Mean of each figure. */
export function meanFigures(scores: readonly Figures[]): Figures {
  const mean = (key: keyof Figures) => scores.reduce((sum, figures) => sum + figures[key], 0) / scores.length;
  return { mae: mean('mae'), sad: mean('sad'), grad: mean('grad'), iou: mean('iou'), colour: mean('colour') };
}
