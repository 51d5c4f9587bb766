/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
/** The 10-90 % width of a blurred hard edge is 2 × 1.2816 standard deviations of the Gaussian. */
const widthPerSigma = 2.563;

const tileSize = 32;

/**
 * Softens a matte (0-255) with a Gaussian whose 10-90 % width on a hard edge is
 * `feather` pixels; borders are replicated. Tiles without any edge in reach are
 * left as they are, which gives the same result.
 * @returns the same array when `feather` is 0, else a new one
 */
export function featherMatte(alpha: Uint8Array, width: number, height: number, feather: number): Uint8Array {
  if (feather <= 0) return alpha;
  const sigma = feather / widthPerSigma;
  const radius = Math.max(1, Math.ceil(3 * sigma));
  const kernel = gaussianKernel(sigma, radius);
  const result = alpha.slice();
  const side = tileSize + 2 * radius;
  const across = new Float32Array(tileSize * side);
  const line = new Float32Array(side);
  const blurred = new Float32Array(tileSize);
  for (let top = 0; top < height; top += tileSize) {
    for (let left = 0; left < width; left += tileSize) {
      const right = Math.min(left + tileSize, width);
      const bottom = Math.min(top + tileSize, height);
      if (isUniform(alpha, width, height, left - radius, top - radius, right + radius, bottom + radius))
        continue;
      const columns = right - left;
      const rows = bottom - top;
      for (let y = 0; y < rows + 2 * radius; y++) {
        const from = Math.min(Math.max(top - radius + y, 0), height - 1) * width;
        const start = left - radius;
        if (start >= 0 && right + radius <= width) {
          for (let x = 0; x < columns + 2 * radius; x++) line[x] = alpha[from + start + x]!;
        } else {
          for (let x = 0; x < columns + 2 * radius; x++) {
            line[x] = alpha[from + Math.min(Math.max(start + x, 0), width - 1)]!;
          }
        }
        convolve(line, 0, 1, kernel, across, y * tileSize, columns);
      }
      for (let y = 0; y < rows; y++) {
        convolve(across, y * tileSize, tileSize, kernel, blurred, 0, columns);
        const to = (top + y) * width + left;
        for (let x = 0; x < columns; x++) result[to + x] = blurred[x]! + 0.5;
      }
    }
  }
  return result;
}

/**
 * `count` neighbours of `source`, from `from`, each weighed with those that follow it at
 * `stride`. The kernel is the same from both ends; the seven weights of the default feather
 * are kept at hand, which takes a third of the time.
 */
function convolve(
  source: Float32Array,
  from: number,
  stride: number,
  kernel: Float32Array,
  target: Float32Array,
  to: number,
  count: number,
): void {
  const size = kernel.length;
  if (size === 7) {
    const [outer, far, near, centre] = [kernel[0]!, kernel[1]!, kernel[2]!, kernel[3]!];
    const [s2, s3, s4, s5, s6] = [2 * stride, 3 * stride, 4 * stride, 5 * stride, 6 * stride];
    for (let i = from, end = from + count; i < end; i++, to++) {
      target[to] =
        centre * source[i + s3]! +
        near * (source[i + s2]! + source[i + s4]!) +
        far * (source[i + stride]! + source[i + s5]!) +
        outer * (source[i]! + source[i + s6]!);
    }
    return;
  }
  for (let i = from, end = from + count; i < end; i++, to++) {
    let sum = 0;
    for (let k = 0, at = i; k < size; k++, at += stride) sum += kernel[k]! * source[at]!;
    target[to] = sum;
  }
}

/** Weights of the pixels around, each the integral of the Gaussian over the pixel, summing to 1. */
function gaussianKernel(sigma: number, radius: number): Float32Array {
  const weights = Float32Array.from({ length: 2 * radius + 1 }, (_, i) => {
    let sum = 0;
    const steps = 16;
    for (let k = 0; k < steps; k++) {
      const x = i - radius - 0.5 + (k + 0.5) / steps;
      sum += Math.exp(-(x * x) / (2 * sigma * sigma));
    }
    return sum;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function isUniform(
  alpha: Uint8Array,
  width: number,
  height: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
): boolean {
  const fromX = Math.max(left, 0);
  const toX = Math.min(right, width);
  const first = alpha[Math.max(top, 0) * width + fromX]!;
  for (let y = Math.max(top, 0); y < Math.min(bottom, height); y++) {
    for (let i = y * width + fromX; i < y * width + toX; i++) if (alpha[i] !== first) return false;
  }
  return true;
}
