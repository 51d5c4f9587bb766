/** Errors of a matte and of its colours against the truth. Alpha is 0-255 everywhere. */

/** Derivative-of-Gaussian magnitudes, the base of the gradient error (Rhemann et al., CVPR 2009). */
function gradient(alpha, width, height, sigma = 1.4) {
  const radius = Math.ceil(3 * sigma);
  const size = 2 * radius + 1;
  const smooth = Float64Array.from({ length: size }, (_, i) =>
    Math.exp(-((i - radius) ** 2) / (2 * sigma * sigma)),
  );
  const total = smooth.reduce((a, b) => a + b, 0);
  for (let i = 0; i < size; i++) smooth[i] /= total;
  const slope = Float64Array.from({ length: size }, (_, i) => (-(i - radius) / (sigma * sigma)) * smooth[i]);
  const filter = (source, kernel, horizontal) => {
    const target = new Float32Array(source.length);
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        let sum = 0;
        for (let k = -radius; k <= radius; k++) {
          const xx = horizontal ? Math.min(Math.max(x + k, 0), width - 1) : x;
          const yy = horizontal ? y : Math.min(Math.max(y + k, 0), height - 1);
          sum += source[yy * width + xx] * kernel[k + radius];
        }
        target[y * width + x] = sum;
      }
    }
    return target;
  };
  const unit = Float32Array.from(alpha, (value) => value / 255);
  const gx = filter(filter(unit, slope, true), smooth, false);
  const gy = filter(filter(unit, smooth, true), slope, false);
  return gx.map((value, i) => Math.hypot(value, gy[i]));
}

/**
 * @param {{ alpha: Uint8Array, rgb: Uint8Array }} result straight colours
 * @param {import('./scenes.mjs').Scene} truth
 */
export function score(result, truth) {
  const { width, height } = truth;
  let sad = 0;
  let both = 0;
  let either = 0;
  let colour = 0;
  let edge = 0;
  for (let i = 0; i < truth.alpha.length; i++) {
    const a = result.alpha[i];
    const t = truth.alpha[i];
    sad += Math.abs(a - t) / 255;
    if (a >= 128 && t >= 128) both++;
    if (a >= 128 || t >= 128) either++;
    if (t > 0.02 * 255 && t < 0.98 * 255) {
      edge++;
      for (let c = i * 3; c < i * 3 + 3; c++) {
        colour += Math.abs((a * result.rgb[c] - t * truth.foreground[c]) / (255 * 255)) / 3;
      }
    }
  }
  const ours = gradient(result.alpha, width, height);
  const theirs = gradient(truth.alpha, width, height);
  let grad = 0;
  for (let i = 0; i < ours.length; i++) grad += (ours[i] - theirs[i]) ** 2;
  return {
    mae: sad / truth.alpha.length,
    sad: sad / 1000,
    grad: grad / 1000,
    iou: either === 0 ? 1 : both / either,
    colour: edge === 0 ? 0 : colour / edge,
  };
}

/** Mean of each figure. */
export function meanScore(scores) {
  const keys = Object.keys(scores[0]);
  return Object.fromEntries(
    keys.map((key) => [key, scores.reduce((sum, s) => sum + s[key], 0) / scores.length]),
  );
}
