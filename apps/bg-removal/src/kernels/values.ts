import { isFull, isZero } from './vectors';

/** The least and the greatest of `count` floats, and how many are at least `floor`: three floats at `result`. */
export function measure(values: usize, count: i32, floor: f32, result: usize): void {
  let least: f32 = Infinity;
  let most: f32 = -Infinity;
  let lows = f32x4.splat(least);
  let highs = f32x4.splat(most);
  let counts = i32x4.splat(0);
  let at = values;
  const end = values + ((<usize>count) << 2);
  for (; at + 16 <= end; at += 16) {
    const four = v128.load(at);
    lows = f32x4.pmin(lows, four);
    highs = f32x4.pmax(highs, four);
    counts = i32x4.sub(counts, f32x4.ge(four, f32x4.splat(floor)));
  }
  let above =
    i32x4.extract_lane(counts, 0) +
    i32x4.extract_lane(counts, 1) +
    i32x4.extract_lane(counts, 2) +
    i32x4.extract_lane(counts, 3);
  least = min(
    min(f32x4.extract_lane(lows, 0), f32x4.extract_lane(lows, 1)),
    min(f32x4.extract_lane(lows, 2), f32x4.extract_lane(lows, 3)),
  );
  most = max(
    max(f32x4.extract_lane(highs, 0), f32x4.extract_lane(highs, 1)),
    max(f32x4.extract_lane(highs, 2), f32x4.extract_lane(highs, 3)),
  );
  for (; at < end; at += 4) {
    const value = load<f32>(at);
    if (value < least) least = value;
    if (value > most) most = value;
    if (value >= floor) above++;
  }
  store<f32>(result, least);
  store<f32>(result, most, 4);
  store<f32>(result, <f32>above, 8);
}

/** Replaces floats by `(value − lowest) × scale`, limited to 0-1. */
export function stretch(values: usize, count: i32, lowest: f32, scale: f32): void {
  let at = values;
  const end = values + ((<usize>count) << 2);
  const zero = f32x4.splat(0);
  const one = f32x4.splat(1);
  for (; at + 16 <= end; at += 16) {
    const scaled = f32x4.mul(f32x4.sub(v128.load(at), f32x4.splat(lowest)), f32x4.splat(scale));
    v128.store(at, f32x4.min(f32x4.max(scaled, zero), one));
  }
  for (; at < end; at += 4) {
    store<f32>(at, min<f32>(1, max<f32>(0, (load<f32>(at) - lowest) * scale)));
  }
}

/** Replaces bytes by the table's values: `to` gets those of `from`. */
export function lookUp(from: usize, to: usize, count: i32, table: usize): void {
  const end = from + <usize>count;
  const zero = i8x16.splat(load<i8>(table));
  const full = i8x16.splat(load<i8>(table, 255));
  while (from < end) {
    if (from + 16 <= end && (isZero(from) || isFull(from))) {
      v128.store(to, load<u8>(from) === 0 ? zero : full);
      from += 16;
      to += 16;
      continue;
    }
    store<u8>(to, load<u8>(table + <usize>load<u8>(from)));
    from++;
    to++;
  }
}

/** Whether `count` pixels are all opaque. */
export function areOpaque(pixels: usize, count: i32): bool {
  const end = pixels + ((<usize>count) << 2);
  for (; pixels + 16 <= end; pixels += 16) {
    // Opaque pixels are negative as numbers of 32 bits, and at least -2^24.
    if (!i32x4.all_true(i32x4.ge_u(v128.load(pixels), i32x4.splat(0xff000000)))) return false;
  }
  for (; pixels < end; pixels += 4) if (load<u8>(pixels, 3) !== 255) return false;
  return true;
}

/**
 * Sets the alpha of `count` pixels to the matte, but never above their own; clears invisible
 * pixels.
 * @param isOpaque whether no pixel is transparent yet
 */
export function applyMatte(pixels: usize, matte: usize, count: i32, isOpaque: bool): void {
  const end = matte + <usize>count;
  const zero = i32x4.splat(0);
  const colours = i32x4.splat(0x00ffffff);
  while (matte + 16 <= end) {
    if (isZero(matte)) {
      memory.fill(pixels, 0, 64);
    } else if (!isOpaque || !isFull(matte)) {
      for (let at: usize = 0; at < 16; at += 4) {
        const four = v128.load(pixels + (at << 2));
        const values = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(matte + at)));
        const alpha = i32x4.min_u(i32x4.shr_u(four, 24), values);
        const pixel = v128.or(v128.and(four, colours), i32x4.shl(alpha, 24));
        v128.store(pixels + (at << 2), v128.andnot(pixel, i32x4.eq(alpha, zero)));
      }
    }
    matte += 16;
    pixels += 64;
  }
  for (; matte < end; matte++, pixels += 4) {
    const alpha = min(load<u8>(matte), load<u8>(pixels, 3));
    store<u8>(pixels, alpha, 3);
    if (alpha === 0) store<u32>(pixels, 0);
  }
}

/**
 * The box of all visible pixels of rows `top` to `bottom`: left, right, top and bottom at `result`,
 * each the first or last pixel of the box. Without any, left and top are greater than right and bottom.
 * @param pixels invisible ones are 0
 */
export function findVisible(pixels: usize, width: i32, top: i32, bottom: i32, result: usize): void {
  let left = width;
  let right = -1;
  let first = i32.MAX_VALUE;
  let last = -1;
  for (let y = top; y < bottom; y++) {
    const row = pixels + ((<usize>(y * width)) << 2);
    let x = 0;
    while (x + 4 <= width && isZero(row + ((<usize>x) << 2))) x += 4;
    while (x < width && load<u32>(row + ((<usize>x) << 2)) === 0) x++;
    if (x === width) continue;
    left = min(left, x);
    first = min(first, y);
    last = y;
    x = width;
    // Only pixels right of the box so far can extend it.
    while (x - 4 > right && isZero(row + ((<usize>(x - 4)) << 2))) x -= 4;
    while (x - 1 > right && load<u32>(row + ((<usize>(x - 1)) << 2)) === 0) x--;
    right = max(right, x - 1);
  }
  store<i32>(result, left);
  store<i32>(result, right, 4);
  store<i32>(result, first, 8);
  store<i32>(result, last, 12);
}
