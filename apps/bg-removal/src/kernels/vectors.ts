/** The first two of four floats as doubles. */
export function low(values: v128): v128 {
  return f64x2.promote_low_f32x4(values);
}

/** The last two of four floats as doubles. */
export function high(values: v128): v128 {
  return f64x2.promote_low_f32x4(v128.shuffle<f32>(values, values, 2, 3, 2, 3));
}

/** Four doubles as floats. */
export function narrow(first: v128, last: v128): v128 {
  return v128.shuffle<f32>(f32x4.demote_f64x2_zero(first), f32x4.demote_f64x2_zero(last), 0, 1, 4, 5);
}

/** `from` where `share` is 0, `to` where it is 1. */
export function mixed(from: v128, to: v128, share: v128): v128 {
  return f32x4.add(from, f32x4.mul(f32x4.sub(to, from), share));
}

/** The sums of each of four vectors. */
export function sumsOf(a: v128, b: v128, c: v128, d: v128): v128 {
  const first = f32x4.add(v128.shuffle<f32>(a, b, 0, 4, 1, 5), v128.shuffle<f32>(a, b, 2, 6, 3, 7));
  const last = f32x4.add(v128.shuffle<f32>(c, d, 0, 4, 1, 5), v128.shuffle<f32>(c, d, 2, 6, 3, 7));
  return f32x4.add(v128.shuffle<f32>(first, last, 0, 1, 4, 5), v128.shuffle<f32>(first, last, 2, 3, 6, 7));
}

/** One lane of a vector in all of them. */
export function lane0(values: v128): v128 {
  return v128.shuffle<f32>(values, values, 0, 0, 0, 0);
}
export function lane1(values: v128): v128 {
  return v128.shuffle<f32>(values, values, 1, 1, 1, 1);
}
export function lane2(values: v128): v128 {
  return v128.shuffle<f32>(values, values, 2, 2, 2, 2);
}
export function lane3(values: v128): v128 {
  return v128.shuffle<f32>(values, values, 3, 3, 3, 3);
}

/** The channels, 0-255, of the first to fourth of four pixels. */
export function pixel0(four: v128): v128 {
  return f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(four)));
}
export function pixel1(four: v128): v128 {
  return f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(i16x8.extend_low_i8x16_u(four)));
}
export function pixel2(four: v128): v128 {
  return f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(i16x8.extend_high_i8x16_u(four)));
}
export function pixel3(four: v128): v128 {
  return f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(i16x8.extend_high_i8x16_u(four)));
}

/** One channel of four pixels, 0-255: red is 0. */
export function channelOf(four: v128, channel: i32): v128 {
  return f32x4.convert_i32x4_u(v128.and(i32x4.shr_u(four, channel << 3), i32x4.splat(255)));
}

/** Four bytes as integers. */
export function integersAt(bytes: usize): v128 {
  return i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(bytes)));
}

/** Four bytes as floats. */
export function floatsAt(bytes: usize): v128 {
  return f32x4.convert_i32x4_u(integersAt(bytes));
}

/** Rounds up to four values and stores them as bytes. */
export function storeBytes(to: usize, values: v128, count: i32): void {
  const rounded = i32x4.trunc_sat_f32x4_u(f32x4.add(values, f32x4.splat(0.5)));
  const halves = i16x8.narrow_i32x4_u(rounded, rounded);
  const bytes = i8x16.narrow_i16x8_u(halves, halves);
  if (count >= 4) {
    v128.store32_lane(to, bytes, 0);
    return;
  }
  store<u8>(to, i8x16.extract_lane_u(bytes, 0));
  if (count > 1) store<u8>(to, i8x16.extract_lane_u(bytes, 1), 1);
  if (count > 2) store<u8>(to, i8x16.extract_lane_u(bytes, 2), 2);
}

/** All bits of the first `count` lanes. */
export function firstLanes(count: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
}

/** `values` to the sixth power. */
export function sixthPower(values: v128): v128 {
  const cubes = f32x4.mul(f32x4.mul(values, values), values);
  return f32x4.mul(cubes, cubes);
}

/** Limited to `0` … `most`. */
export function limited(values: v128, most: f32): v128 {
  return f32x4.min(f32x4.max(values, f32x4.splat(0)), f32x4.splat(most));
}

/**
 * The foreground colour: `clip(F̂ + α(I − αF̂ − (1−α)B̂))`, all 0-255 except α (0-1).
 */
export function fuse(foreground: v128, background: v128, alpha: v128, colour: v128): v128 {
  const expected = mixed(background, foreground, alpha);
  const estimate = f32x4.add(foreground, f32x4.mul(alpha, f32x4.sub(colour, expected)));
  return limited(estimate, 255);
}

/** Whether sixteen values are all 0. */
export function isZero(values: usize): bool {
  return !v128.any_true(v128.load(values));
}

/** Whether sixteen values are all 255. */
export function isFull(values: usize): bool {
  return i8x16.all_true(i8x16.eq(v128.load(values), i8x16.splat(-1)));
}
