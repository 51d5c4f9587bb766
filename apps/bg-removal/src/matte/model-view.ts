import type { Rectangle } from '../images/output.js';
import type { RgbaImage } from '../images/rgba-image.js';
import type { TeamMember } from './team-member.js';

/** Kernels read whole vectors of four pixels. */
const pixelsAtOnce = 4;
/**
 * Pixels by which libvips's enlarged images are late. Aligned ones make some groups of the
 * benchmark's pictures better by a tenth and others worse by as much.
 */
const enlargedLate = 0.5;

/** A part of an image in the shared memory. */
interface Pixels {
  readonly address: number;
  /** Bytes of a row. */
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/**
 * The network's view of a part of an opaque image: interleaved RGB, resized to the input size
 * without keeping proportions, with Lanczos's kernel of three lobes, or a cubic one to enlarge.
 * Large images are halved first, which takes a fraction of the time.
 */
export function viewForModel(
  image: RgbaImage,
  area: Rectangle,
  width: number,
  height: number,
  team: TeamMember,
): Uint8Array {
  const stride = image.width * 4;
  let source: Pixels = {
    address: team.addressOf(image.data) + area.top * stride + area.left * 4,
    stride,
    width: area.width,
    height: area.height,
  };
  while (source.width >= 2 * width && source.height >= 2 * height) source = halved(source, team);
  const late = source.width < width || source.height < height ? enlargedLate : 0;
  const columns = withHeight(source, height, late, team);
  return withWidth(columns, width, late, team);
}

function createPixels(width: number, height: number, team: TeamMember): Pixels {
  const stride = Math.ceil(width / pixelsAtOnce) * pixelsAtOnce * 4;
  return { address: team.addressOf(team.bytes(stride * height)), stride, width, height };
}

function halved(source: Pixels, team: TeamMember): Pixels {
  const target = createPixels(Math.ceil(source.width / 2), Math.ceil(source.height / 2), team);
  const { address, stride, width, height } = source;
  team.run('halveRows', target.height, {
    source: address,
    stride,
    width,
    height,
    target: target.address,
    targetStride: target.stride,
  });
  return target;
}

function withHeight(source: Pixels, height: number, late: number, team: TeamMember): Pixels {
  const target = createPixels(source.width, height, team);
  const { firsts, weights, count } = fixedPointTaps(source.height, height, late, 2);
  team.run('resizeColumns', height, {
    source: source.address,
    stride: source.stride,
    width: source.width,
    height: source.height,
    target: target.address,
    targetStride: target.stride,
    firsts: team.place(firsts),
    weights: team.place(weights),
    count,
  });
  return target;
}

function withWidth(
  { address, stride, width: sourceWidth, height }: Pixels,
  width: number,
  late: number,
  team: TeamMember,
): Uint8Array {
  const view = team.bytes(width * height * 3);
  const { firsts, weights, count } = fixedPointTaps(sourceWidth, width, late, pixelsAtOnce);
  team.run('resizeRows', height, {
    source: address,
    stride,
    target: view,
    width,
    firsts: team.place(firsts),
    weights: team.place(weights),
    count,
  });
  return view;
}

/** What each sample of a resized line is made of. */
interface Taps {
  /** First source index of each target index, as bytes of 32-bit integers. */
  readonly firsts: Uint8Array;
  readonly count: number;
  /** `count` weights for each target index, as bytes of 16-bit integers with {@link bits} of fraction. */
  readonly weights: Uint8Array;
}

/** As in the kernel. */
const bits = 14;
const lobes = 3;

/**
 * Weights for {@link viewForModel}. Pixel centres are aligned (half-pixel convention) up to `late`
 * pixels of the result; borders are repeated.
 * @param multiple `count` is a multiple of it
 */
function fixedPointTaps(sourceSize: number, targetSize: number, late: number, multiple: number): Taps {
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
