/** The channels of two rows or pixels in turn, as a kernel's pairs of weights need them. */
function products(first: v128, second: v128, weights: v128, part: i32): v128 {
  const turns =
    part < 2
      ? v128.shuffle<i8>(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
      : v128.shuffle<i8>(first, second, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const wide = part % 2 === 0 ? i16x8.extend_low_i8x16_u(turns) : i16x8.extend_high_i8x16_u(turns);
  return i32x4.dot_i16x8_s(wide, weights);
}

/** Fractional bits of a weight. */
const bits = 14;

/** Sums of weighted bytes as bytes. */
function bytesOf(a: v128, b: v128, c: v128, d: v128): v128 {
  return i8x16.narrow_i16x8_u(
    i16x8.narrow_i32x4_s(i32x4.shr_s(a, bits), i32x4.shr_s(b, bits)),
    i16x8.narrow_i32x4_s(i32x4.shr_s(c, bits), i32x4.shr_s(d, bits)),
  );
}

/**
 * Means of two by two pixels, in rows `top` to `bottom` of the result. At odd borders, the last
 * pixel counts twice.
 * @param stride of the source, and `targetStride`: bytes of a row
 */
export function halveRows(
  source: usize,
  stride: i32,
  width: i32,
  height: i32,
  target: usize,
  targetStride: i32,
  top: i32,
  bottom: i32,
): void {
  const two = i16x8.splat(2);
  for (let y = top; y < bottom; y++) {
    let upper = source + <usize>(2 * y) * stride;
    let lower = source + <usize>min(2 * y + 1, height - 1) * stride;
    let to = target + <usize>y * targetStride;
    for (let x = 0; x < width; x += 4, upper += 16, lower += 16, to += 8) {
      let above = v128.load(upper);
      let below = v128.load(lower);
      if (x + 3 >= width && width % 2 === 1) {
        // The last pixel is the first of its pair, in the first or second half.
        above = pairedLast(above, width - x);
        below = pairedLast(below, width - x);
      }
      const first = i16x8.add(i16x8.extend_low_i8x16_u(above), i16x8.extend_low_i8x16_u(below));
      const second = i16x8.add(i16x8.extend_high_i8x16_u(above), i16x8.extend_high_i8x16_u(below));
      const left = v128.shuffle<i64>(first, second, 0, 2);
      const right = v128.shuffle<i64>(first, second, 1, 3);
      const means = i16x8.shr_u(i16x8.add(i16x8.add(left, right), two), 2);
      v128.store64_lane(to, i8x16.narrow_i16x8_u(means, means), 0);
    }
  }
}

/** Repeats the last of one or three pixels. */
function pairedLast(four: v128, count: i32): v128 {
  return count === 1 ? v128.shuffle<i32>(four, four, 0, 0, 2, 3) : v128.shuffle<i32>(four, four, 0, 1, 2, 2);
}

/**
 * Resizes columns: rows `top` to `bottom` of the result are weighted sums of the source's.
 * @param stride of the source, and `targetStride`: bytes of a row
 * @param firsts the first source row of each row
 * @param weights `count` of 16 bits for each row, even; {@link bits} of them are a fraction
 */
export function resizeColumns(
  source: usize,
  stride: i32,
  width: i32,
  height: i32,
  target: usize,
  targetStride: i32,
  firsts: usize,
  weights: usize,
  count: i32,
  top: i32,
  bottom: i32,
): void {
  const half = i32x4.splat(1 << (bits - 1));
  for (let y = top; y < bottom; y++) {
    const first = load<i32>(firsts + ((<usize>y) << 2));
    const ownWeights = weights + ((<usize>(y * count)) << 1);
    let to = target + <usize>y * targetStride;
    for (let offset = 0; offset < width * 4; offset += 16, to += 16) {
      let a = half;
      let b = half;
      let c = half;
      let d = half;
      for (let tap = 0; tap < count; tap += 2) {
        const pair = v128.load32_splat(ownWeights + ((<usize>tap) << 1));
        const upper = v128.load(source + <usize>min(first + tap, height - 1) * stride + offset);
        const lower = v128.load(source + <usize>min(first + tap + 1, height - 1) * stride + offset);
        a = i32x4.add(a, products(upper, lower, pair, 0));
        b = i32x4.add(b, products(upper, lower, pair, 1));
        c = i32x4.add(c, products(upper, lower, pair, 2));
        d = i32x4.add(d, products(upper, lower, pair, 3));
      }
      v128.store(to, bytesOf(a, b, c, d));
    }
  }
}

/**
 * Resizes rows `top` to `bottom` of RGBA to `width` pixels of RGB.
 * @param stride bytes of a row of the source
 * @param firsts the first source column of each column
 * @param weights `count` of 16 bits for each column, a multiple of four
 */
export function resizeRows(
  source: usize,
  stride: i32,
  target: usize,
  width: i32,
  firsts: usize,
  weights: usize,
  count: i32,
  top: i32,
  bottom: i32,
): void {
  const half = i32x4.splat(1 << (bits - 1));
  for (let y = top; y < bottom; y++) {
    const row = source + <usize>y * stride;
    let to = target + <usize>(y * width * 3);
    let ownWeights = weights;
    for (let x = 0; x < width; x++, to += 3) {
      let at = row + ((<usize>load<i32>(firsts + ((<usize>x) << 2))) << 2);
      let sum = half;
      for (const end = at + ((<usize>count) << 2); at < end; at += 16, ownWeights += 8) {
        const four = v128.load(at);
        const turns = v128.shuffle<i8>(four, four, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
        const first = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(turns), v128.load32_splat(ownWeights));
        const last = i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(turns), v128.load32_splat(ownWeights, 4));
        sum = i32x4.add(sum, i32x4.add(first, last));
      }
      const bytes = bytesOf(sum, sum, sum, sum);
      if (x + 1 < width) {
        v128.store32_lane(to, bytes, 0);
        continue;
      }
      store<u16>(to, i16x8.extract_lane_u(bytes, 0));
      store<u8>(to, i8x16.extract_lane_u(bytes, 2), 2);
    }
  }
}
