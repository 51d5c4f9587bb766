/** What each sample of a resized line is made of. */
interface Taps {
  /** First source index of each target index, as bytes of 32-bit integers. */
  readonly firsts: Uint8Array;
  readonly count: number;
  /** `count` weights for each target index, as bytes of 16-bit integers with {@link bits} of fraction. */
  readonly weights: Uint8Array;
}

const bits = 14;
const lobes = 3;

/**
 * Weights for {@link viewForModel}. Pixel centres are aligned (half-pixel convention) up to `late`
 * pixels of the result; borders are repeated.
 * @param multiple `count` is a multiple of it
 */
export function fixedPointTaps(sourceSize: number, targetSize: number, late: number, multiple: number): Taps {
  const scale = sourceSize / targetSize;
  const kernel = scale <= 1 ? cubic : late === 0 ? lanczos : lateLanczos;
  const support = scale <= 1 ? 2 : (late === 0 ? lobes : lobes + 1.5) * scale;
  const needed = Math.min(sourceSize, Math.ceil(support * 2) + 1);
  const count = Math.ceil(needed / multiple) * multiple;
  const firsts = new Int32Array(targetSize);
  const weights = new Int16Array(targetSize * count);
  for (let i = 0; i < targetSize; i++) {
    const centre = (i + 0.5 - late) * scale - 0.5;
    const first = Math.min(Math.max(0, Math.ceil(centre - support)), sourceSize - needed);
    firsts[i] = first;
    const exact = new Float64Array(needed);
    for (let k = Math.ceil(centre - support); k <= Math.floor(centre + support); k++) {
      const inside = Math.min(Math.max(k, 0), sourceSize - 1);
      const slot = Math.min(Math.max(inside - first, 0), needed - 1);
      exact[slot] = (exact[slot] ?? 0) + kernel((k - centre) / Math.max(1, scale));
    }
    weights.set(rounded(exact), i * count);
  }
  return { firsts: new Uint8Array(firsts.buffer), count, weights: new Uint8Array(weights.buffer) };
}

/** Weights whose sum is exactly one: each takes over the rounding error of those before it. */
function rounded(exact: Float64Array): number[] {
  const total = exact.reduce((sum, weight) => sum + weight, 0);
  let [sum, given] = [0, 0];
  return Array.from(exact, (weight) => {
    sum += weight;
    const share = Math.round((sum / total) * 2 ** bits) - given;
    given += share;
    return share;
  });
}

function lanczos(x: number): number {
  if (x === 0) return 1;
  if (Math.abs(x) >= lobes) return 0;
  const angle = Math.PI * x;
  return (lobes * Math.sin(angle) * Math.sin(angle / lobes)) / (angle * angle);
}

/** Lanczos's kernel, then a cubic one half a pixel late, as in libvips. */
function lateLanczos(x: number): number {
  const [near, far] = [lanczos(x - 0.5) + lanczos(x + 0.5), lanczos(x - 1.5) + lanczos(x + 1.5)];
  return near * cubic(0.5) + far * cubic(1.5);
}

/** Keys's cubic convolution ("Cubic Convolution Interpolation for Digital Image Processing", 1981). */
function cubic(x: number): number {
  const distance = Math.abs(x);
  if (distance >= 2) return 0;
  return distance < 1
    ? 1 + distance * distance * (1.5 * distance - 2.5)
    : 2 + distance * (-4 + distance * (2.5 - 0.5 * distance));
}
