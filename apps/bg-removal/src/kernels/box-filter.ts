import { high, low, narrow } from './vectors';

/**
 * Means of four channels over the cells up to `radius` to the left and right, clipped at the
 * borders. Running sums, so the cost doesn't depend on the radius; doubles, because a sum is
 * updated at every cell of a row.
 */
export function boxRows(source: usize, target: usize, width: i32, radius: i32, top: i32, bottom: i32): void {
  const reach = min(radius, width - 1);
  const ahead = (<usize>reach) << 4;
  const behind = (<usize>(reach + 1)) << 4;
  // Between them, every window is whole.
  const whole = min(reach + 1, width);
  const cut = max(whole, width - reach);
  const share = f64x2.splat(<f64>1 / <f64>(2 * reach + 1));
  for (let y = top; y < bottom; y++) {
    const row = source + ((<usize>(y * width)) << 4);
    let to = target + ((<usize>(y * width)) << 4);
    let at = row;
    let first = f64x2.splat(0);
    let last = f64x2.splat(0);
    for (const end = row + ahead; at < end; at += 16) {
      const entering = v128.load(at);
      first = f64x2.add(first, low(entering));
      last = f64x2.add(last, high(entering));
    }
    let x = 0;
    for (at = row; x < whole; x++, at += 16, to += 16) {
      if (x + reach < width) {
        const entering = v128.load(at + ahead);
        first = f64x2.add(first, low(entering));
        last = f64x2.add(last, high(entering));
      }
      const part = f64x2.splat(<f64>1 / <f64>(min(width - 1, x + reach) + 1));
      v128.store(to, narrow(f64x2.mul(first, part), f64x2.mul(last, part)));
    }
    for (; x < cut; x++, at += 16, to += 16) {
      const entering = v128.load(at + ahead);
      const leaving = v128.load(at - behind);
      first = f64x2.add(first, f64x2.sub(low(entering), low(leaving)));
      last = f64x2.add(last, f64x2.sub(high(entering), high(leaving)));
      v128.store(to, narrow(f64x2.mul(first, share), f64x2.mul(last, share)));
    }
    for (; x < width; x++, at += 16, to += 16) {
      const leaving = v128.load(at - behind);
      first = f64x2.sub(first, low(leaving));
      last = f64x2.sub(last, high(leaving));
      const part = f64x2.splat(<f64>1 / <f64>(width - x + reach));
      v128.store(to, narrow(f64x2.mul(first, part), f64x2.mul(last, part)));
    }
  }
}

/**
 * The same over the cells above and below, in columns `left` to `right`.
 * @param sums memory for four doubles for each column
 */
export function boxColumns(
  source: usize,
  target: usize,
  sums: usize,
  width: i32,
  height: i32,
  radius: i32,
  left: i32,
  right: i32,
): void {
  const reach = min(radius, height - 1);
  const stride = (<usize>width) << 4;
  const offset = (<usize>left) << 4;
  const first = sums + ((<usize>left) << 5);
  const last = sums + ((<usize>right) << 5);
  memory.fill(first, 0, last - first);
  for (let y = -reach; y < height; y++) {
    slide(first, last, source + offset, stride, y, reach, height);
    if (y < 0) continue;
    const share = f64x2.splat(windowShare(y, reach, height));
    let to = target + <usize>y * stride + offset;
    for (let at = first; at < last; at += 32, to += 16) {
      v128.store(to, narrow(f64x2.mul(v128.load(at), share), f64x2.mul(v128.load(at, 16), share)));
    }
  }
}

/** Moves the window of a running sum down to row `y`: adds the row that enters and subtracts the one that leaves. */
export function slide(
  first: usize,
  last: usize,
  source: usize,
  stride: usize,
  y: i32,
  reach: i32,
  height: i32,
): void {
  let entering = source + <usize>(y + reach) * stride;
  let leaving = source + <usize>(y - reach - 1) * stride;
  if (y > reach && y + reach < height) {
    for (let at = first; at < last; at += 32, entering += 16, leaving += 16) {
      const added = v128.load(entering);
      const removed = v128.load(leaving);
      v128.store(at, f64x2.sub(f64x2.add(v128.load(at), low(added)), low(removed)));
      v128.store(at, f64x2.sub(f64x2.add(v128.load(at, 16), high(added)), high(removed)), 16);
    }
  } else if (y + reach < height) {
    for (let at = first; at < last; at += 32, entering += 16) {
      const added = v128.load(entering);
      v128.store(at, f64x2.add(v128.load(at), low(added)));
      v128.store(at, f64x2.add(v128.load(at, 16), high(added)), 16);
    }
  } else if (y > reach) {
    for (let at = first; at < last; at += 32, leaving += 16) {
      const removed = v128.load(leaving);
      v128.store(at, f64x2.sub(v128.load(at), low(removed)));
      v128.store(at, f64x2.sub(v128.load(at, 16), high(removed)), 16);
    }
  }
}

/** One over the number of cells in the window around a position. */
export function windowShare(position: i32, reach: i32, size: i32): f64 {
  return <f64>1 / <f64>(min(size - 1, position + reach) - max(0, position - reach) + 1);
}

/**
 * Transposes rows `top` to `bottom` of single floats, four at a time. Repeats the last row where
 * there are fewer.
 * @param top a multiple of four
 * @param stride of the source and of the target, in floats
 */
export function transposeRows(
  source: usize,
  stride: i32,
  width: i32,
  height: i32,
  target: usize,
  targetStride: i32,
  top: i32,
  bottom: i32,
): void {
  for (let y = top; y < bottom; y += 4) {
    let first = source + ((<usize>(y * stride)) << 2);
    let second = source + ((<usize>(min(y + 1, height - 1) * stride)) << 2);
    let third = source + ((<usize>(min(y + 2, height - 1) * stride)) << 2);
    let fourth = source + ((<usize>(min(y + 3, height - 1) * stride)) << 2);
    for (let x = 0; x < width; x += 4) {
      const a = v128.load(first);
      const b = v128.load(second);
      const c = v128.load(third);
      const d = v128.load(fourth);
      const ab = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
      const cd = v128.shuffle<f32>(c, d, 0, 4, 1, 5);
      const abEnd = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
      const cdEnd = v128.shuffle<f32>(c, d, 2, 6, 3, 7);
      const to = target + ((<usize>(x * targetStride + y)) << 2);
      const next = (<usize>targetStride) << 2;
      v128.store(to, v128.shuffle<f32>(ab, cd, 0, 1, 4, 5));
      if (x + 1 < width) v128.store(to + next, v128.shuffle<f32>(ab, cd, 2, 3, 6, 7));
      if (x + 2 < width) v128.store(to + 2 * next, v128.shuffle<f32>(abEnd, cdEnd, 0, 1, 4, 5));
      if (x + 3 < width) v128.store(to + 3 * next, v128.shuffle<f32>(abEnd, cdEnd, 2, 3, 6, 7));
      first += 16;
      second += 16;
      third += 16;
      fourth += 16;
    }
  }
}
