import { slide, windowShare } from './box-filter';
import { high, lane3, low, narrow } from './vectors';

/** Bytes of the moments of one cell, as floats. */
const momentBytes: usize = 64;

/** A cell's colour, 0-1, and its alpha. */
function guideAt(colours: usize, alpha: usize, cell: i32): v128 {
  const colour = v128.load(colours + ((<usize>cell) << 4));
  const scaled = f32x4.mul(colour, f32x4.splat(<f32>1 / 255));
  return f32x4.replace_lane(scaled, 3, load<f32>(alpha + ((<usize>cell) << 2)));
}

/** The colour's channels in turn: green, blue, red. */
function turned(guide: v128): v128 {
  return v128.shuffle<f32>(guide, guide, 1, 2, 0, 3);
}

/**
 * Means over the cells up to `radius` to the left and right: of red, green, blue and alpha; of
 * the products of each colour with alpha; of the squares; and of red × green, green × blue and
 * blue × red.
 * @param moments sixteen floats for each cell; every fourth of the last three groups is unused
 */
export function momentRows(
  colours: usize,
  alpha: usize,
  moments: usize,
  width: i32,
  radius: i32,
  top: i32,
  bottom: i32,
): void {
  const reach = min(radius, width - 1);
  for (let y = top; y < bottom; y++) {
    const row = y * width;
    let to = moments + <usize>row * momentBytes;
    let mean0 = f64x2.splat(0);
    let mean1 = f64x2.splat(0);
    let mean2 = f64x2.splat(0);
    let mean3 = f64x2.splat(0);
    let mean4 = f64x2.splat(0);
    let mean5 = f64x2.splat(0);
    let mean6 = f64x2.splat(0);
    let mean7 = f64x2.splat(0);
    for (let x = -reach; x < width; x++) {
      if (x + reach < width) {
        const guide = guideAt(colours, alpha, row + x + reach);
        const withAlpha = f32x4.mul(guide, lane3(guide));
        const squares = f32x4.mul(guide, guide);
        const products = f32x4.mul(guide, turned(guide));
        mean0 = f64x2.add(mean0, low(guide));
        mean1 = f64x2.add(mean1, high(guide));
        mean2 = f64x2.add(mean2, low(withAlpha));
        mean3 = f64x2.add(mean3, high(withAlpha));
        mean4 = f64x2.add(mean4, low(squares));
        mean5 = f64x2.add(mean5, high(squares));
        mean6 = f64x2.add(mean6, low(products));
        mean7 = f64x2.add(mean7, high(products));
      }
      if (x > reach) {
        const guide = guideAt(colours, alpha, row + x - reach - 1);
        const withAlpha = f32x4.mul(guide, lane3(guide));
        const squares = f32x4.mul(guide, guide);
        const products = f32x4.mul(guide, turned(guide));
        mean0 = f64x2.sub(mean0, low(guide));
        mean1 = f64x2.sub(mean1, high(guide));
        mean2 = f64x2.sub(mean2, low(withAlpha));
        mean3 = f64x2.sub(mean3, high(withAlpha));
        mean4 = f64x2.sub(mean4, low(squares));
        mean5 = f64x2.sub(mean5, high(squares));
        mean6 = f64x2.sub(mean6, low(products));
        mean7 = f64x2.sub(mean7, high(products));
      }
      if (x < 0) continue;
      const share = f64x2.splat(windowShare(x, reach, width));
      v128.store(to, narrow(f64x2.mul(mean0, share), f64x2.mul(mean1, share)));
      v128.store(to, narrow(f64x2.mul(mean2, share), f64x2.mul(mean3, share)), 16);
      v128.store(to, narrow(f64x2.mul(mean4, share), f64x2.mul(mean5, share)), 32);
      v128.store(to, narrow(f64x2.mul(mean6, share), f64x2.mul(mean7, share)), 48);
      to += momentBytes;
    }
  }
}

/** One number of two cells, from the sums of each. */
function pair(sums: usize, next: usize, offset: usize, share: v128): v128 {
  const both = v128.load64_lane(next + offset, v128.load64_zero(sums + offset), 1);
  return f64x2.mul(both, share);
}

function productOf(a: v128, b: v128, c: v128, d: v128): v128 {
  return f64x2.sub(f64x2.mul(a, b), f64x2.mul(c, d));
}

/**
 * Finishes the means over the cells above and below, and solves the linear regression of alpha on
 * colour in every window: a symmetric 3×3 system, by its adjugate.
 * @param model red, green, blue and offset of each cell
 * @param sums memory for sixteen doubles for each column
 */
export function solveColumns(
  moments: usize,
  model: usize,
  sums: usize,
  width: i32,
  height: i32,
  radius: i32,
  epsilon: f64,
  left: i32,
  right: i32,
): void {
  const reach = min(radius, height - 1);
  const stride = <usize>width * momentBytes;
  const source = moments + <usize>left * momentBytes;
  const first = sums + ((<usize>left) << 7);
  const last = sums + ((<usize>right) << 7);
  const smooth = f64x2.splat(epsilon);
  const one = f64x2.splat(1);
  memory.fill(first, 0, last - first);
  for (let y = -reach; y < height; y++) {
    slide(first, last, source, stride, y, reach, height);
    if (y < 0) continue;
    const share = f64x2.splat(windowShare(y, reach, height));
    let to = model + ((<usize>(y * width + left)) << 4);
    for (let at = first; at < last; at += 256, to += 32) {
      const next = at + 128 < last ? at + 128 : at;
      const r = pair(at, next, 0, share);
      const g = pair(at, next, 8, share);
      const b = pair(at, next, 16, share);
      const p = pair(at, next, 24, share);
      const covR = f64x2.sub(pair(at, next, 32, share), f64x2.mul(r, p));
      const covG = f64x2.sub(pair(at, next, 40, share), f64x2.mul(g, p));
      const covB = f64x2.sub(pair(at, next, 48, share), f64x2.mul(b, p));
      const rr = f64x2.add(f64x2.sub(pair(at, next, 64, share), f64x2.mul(r, r)), smooth);
      const gg = f64x2.add(f64x2.sub(pair(at, next, 72, share), f64x2.mul(g, g)), smooth);
      const bb = f64x2.add(f64x2.sub(pair(at, next, 80, share), f64x2.mul(b, b)), smooth);
      const rg = f64x2.sub(pair(at, next, 96, share), f64x2.mul(r, g));
      const gb = f64x2.sub(pair(at, next, 104, share), f64x2.mul(g, b));
      const rb = f64x2.sub(pair(at, next, 112, share), f64x2.mul(b, r));
      const c00 = productOf(gg, bb, gb, gb);
      const c01 = productOf(rb, gb, rg, bb);
      const c02 = productOf(rg, gb, rb, gg);
      const c12 = productOf(rg, rb, rr, gb);
      const determinant = f64x2.add(f64x2.add(f64x2.mul(rr, c00), f64x2.mul(rg, c01)), f64x2.mul(rb, c02));
      const scale = f64x2.div(one, determinant);
      const red = dot(c00, c01, c02, covR, covG, covB, scale);
      const green = dot(c01, productOf(rr, bb, rb, rb), c12, covR, covG, covB, scale);
      const blue = dot(c02, c12, productOf(rr, gg, rg, rg), covR, covG, covB, scale);
      const coloured = f64x2.add(f64x2.add(f64x2.mul(red, r), f64x2.mul(green, g)), f64x2.mul(blue, b));
      const offset = f64x2.sub(p, coloured);
      v128.store(to, narrow(v128.shuffle<f64>(red, green, 0, 2), v128.shuffle<f64>(blue, offset, 0, 2)));
      if (next === at) continue;
      v128.store(to, narrow(v128.shuffle<f64>(red, green, 1, 3), v128.shuffle<f64>(blue, offset, 1, 3)), 16);
    }
  }
}

function dot(a: v128, b: v128, c: v128, x: v128, y: v128, z: v128, scale: v128): v128 {
  const sum = f64x2.add(f64x2.add(f64x2.mul(a, x), f64x2.mul(b, y)), f64x2.mul(c, z));
  return f64x2.mul(sum, scale);
}
