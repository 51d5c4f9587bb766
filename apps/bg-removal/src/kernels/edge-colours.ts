import { columnBytes, findColumns, rowBytes, sampleAt, sampleRow } from './sampling';
import {
  firstLanes,
  fuse,
  integersAt,
  isFull,
  isZero,
  lane0,
  lane1,
  lane2,
  lane3,
  limited,
  mixed,
  pixel0,
  pixel1,
  pixel2,
  pixel3,
  storeBytes,
  sumsOf,
} from './vectors';

/** Bytes that {@link correctRows} and {@link replaceRows} need as scratch memory. */
export function edgeScratch(width: i32, gridWidth: i32): usize {
  return 2 * rowBytes(gridWidth) + columnBytes(width);
}

/**
 * Moves the alpha of mixed pixels of rows `top` to `bottom` towards their position on the line
 * between background and foreground colour.
 * @param foreground the fourth channel is the certainty
 */
export function correctRows(
  pixels: usize,
  alpha: usize,
  width: i32,
  height: i32,
  foreground: usize,
  background: usize,
  step: i32,
  clearDifference: f32,
  doubt: f32,
  scratch: usize,
  top: i32,
  bottom: i32,
): void {
  const gridWidth = (width + step - 1) / step;
  const gridHeight = (height + step - 1) / step;
  const behindRow = scratch + rowBytes(gridWidth);
  const columns = behindRow + rowBytes(gridWidth);
  findColumns(columns, width, step, gridWidth);
  const clear = f32x4.splat(clearDifference * clearDifference);
  const full = i32x4.splat(255);
  for (let y = top; y < bottom; y++) {
    let isSampled = false;
    for (let x = 0; x < width; x += 4) {
      const at = <usize>(y * width + x);
      if (x + 16 <= width && (isZero(alpha + at) || isFull(alpha + at))) {
        x += 12;
        continue;
      }
      const four = v128.load(pixels + (at << 2));
      const values = integersAt(alpha + at);
      const own = i32x4.eq(i32x4.shr_u(four, 24), full);
      const isMixed = v128.andnot(
        i32x4.lt_u(i32x4.sub(values, i32x4.splat(1)), i32x4.splat(254)),
        v128.not(own),
      );
      if (!v128.any_true(isMixed)) continue;
      if (!isSampled) {
        sampleRow(foreground, gridWidth, gridHeight, step, y, scratch);
        sampleRow(background, gridWidth, gridHeight, step, y, behindRow);
        isSampled = true;
      }
      const front0 = sampleAt(scratch, columns, x);
      const front1 = sampleAt(scratch, columns, x + 1);
      const front2 = sampleAt(scratch, columns, x + 2);
      const front3 = sampleAt(scratch, columns, x + 3);
      const behind0 = sampleAt(behindRow, columns, x);
      const behind1 = sampleAt(behindRow, columns, x + 1);
      const behind2 = sampleAt(behindRow, columns, x + 2);
      const behind3 = sampleAt(behindRow, columns, x + 3);
      const difference0 = colour(f32x4.sub(front0, behind0));
      const difference1 = colour(f32x4.sub(front1, behind1));
      const difference2 = colour(f32x4.sub(front2, behind2));
      const difference3 = colour(f32x4.sub(front3, behind3));
      const from0 = colour(f32x4.sub(pixel0(four), behind0));
      const from1 = colour(f32x4.sub(pixel1(four), behind1));
      const from2 = colour(f32x4.sub(pixel2(four), behind2));
      const from3 = colour(f32x4.sub(pixel3(four), behind3));
      const along = sumsOf(
        f32x4.mul(from0, difference0),
        f32x4.mul(from1, difference1),
        f32x4.mul(from2, difference2),
        f32x4.mul(from3, difference3),
      );
      const length = sumsOf(
        f32x4.mul(difference0, difference0),
        f32x4.mul(difference1, difference1),
        f32x4.mul(difference2, difference2),
        f32x4.mul(difference3, difference3),
      );
      const distance = sumsOf(
        f32x4.mul(from0, from0),
        f32x4.mul(from1, from1),
        f32x4.mul(from2, from2),
        f32x4.mul(from3, from3),
      );
      const certainty = v128.shuffle<f32>(
        v128.shuffle<f32>(front0, front1, 3, 7, 3, 7),
        v128.shuffle<f32>(front2, front3, 3, 7, 3, 7),
        0,
        1,
        4,
        5,
      );
      // Colours that don't differ get no trust; the limit only avoids a division by zero.
      const place = limited(f32x4.div(along, f32x4.max(length, f32x4.splat(1e-20))), 1);
      const double = f32x4.add(along, along);
      const besideLine = f32x4.add(distance, f32x4.mul(place, f32x4.sub(f32x4.mul(place, length), double)));
      const trust = f32x4.div(
        f32x4.mul(certainty, length),
        f32x4.add(f32x4.add(length, clear), f32x4.mul(f32x4.splat(doubt), besideLine)),
      );
      const value = f32x4.convert_i32x4_u(values);
      const corrected = mixed(value, f32x4.mul(place, f32x4.splat(255)), v128.and(trust, isMixed));
      storeBytes(alpha + at, corrected, width - x);
    }
  }
}

/** Without the fourth channel. */
function colour(channels: v128): v128 {
  return f32x4.replace_lane(channels, 3, 0);
}

/** Replaces the colours of visible mixed pixels of rows `top` to `bottom` by the foreground's. */
export function replaceRows(
  pixels: usize,
  alpha: usize,
  visible: usize,
  width: i32,
  height: i32,
  foreground: usize,
  background: usize,
  step: i32,
  scratch: usize,
  top: i32,
  bottom: i32,
): void {
  const gridWidth = (width + step - 1) / step;
  const gridHeight = (height + step - 1) / step;
  const behindRow = scratch + rowBytes(gridWidth);
  const columns = behindRow + rowBytes(gridWidth);
  findColumns(columns, width, step, gridWidth);
  const full = i32x4.splat(255);
  const perLevel = f32x4.splat(<f32>1 / 255);
  for (let y = top; y < bottom; y++) {
    let isSampled = false;
    for (let x = 0; x < width; x += 4) {
      const at = <usize>(y * width + x);
      if (x + 16 <= width && (isZero(visible + at) || isFull(alpha + at))) {
        x += 12;
        continue;
      }
      const four = v128.load(pixels + (at << 2));
      const values = integersAt(alpha + at);
      const isMixed = v128.and(
        v128.and(i32x4.ne(integersAt(visible + at), i32x4.splat(0)), i32x4.ne(values, full)),
        v128.and(i32x4.eq(i32x4.shr_u(four, 24), full), firstLanes(width - x)),
      );
      if (!v128.any_true(isMixed)) continue;
      if (!isSampled) {
        sampleRow(foreground, gridWidth, gridHeight, step, y, scratch);
        sampleRow(background, gridWidth, gridHeight, step, y, behindRow);
        isSampled = true;
      }
      const shares = f32x4.mul(f32x4.convert_i32x4_u(values), perLevel);
      const first = fused(scratch, behindRow, columns, x, lane0(shares), pixel0(four));
      const second = fused(scratch, behindRow, columns, x + 1, lane1(shares), pixel1(four));
      const third = fused(scratch, behindRow, columns, x + 2, lane2(shares), pixel2(four));
      const fourth = fused(scratch, behindRow, columns, x + 3, lane3(shares), pixel3(four));
      const colours = i8x16.narrow_i16x8_u(
        i16x8.narrow_i32x4_s(first, second),
        i16x8.narrow_i32x4_s(third, fourth),
      );
      const mask = v128.and(isMixed, i32x4.splat(0x00ffffff));
      const result = v128.bitselect(colours, four, mask);
      if (x + 4 <= width) {
        v128.store(pixels + (at << 2), result);
        continue;
      }
      v128.store32_lane(pixels + (at << 2), result, 0);
      if (x + 1 < width) v128.store32_lane(pixels + (at << 2), result, 1, 4);
      if (x + 2 < width) v128.store32_lane(pixels + (at << 2), result, 2, 8);
    }
  }
}

/** The foreground colour of a pixel, rounded. */
function fused(frontRow: usize, behindRow: usize, columns: usize, x: i32, alpha: v128, pixel: v128): v128 {
  const front = sampleAt(frontRow, columns, x);
  const behind = sampleAt(behindRow, columns, x);
  return i32x4.trunc_sat_f32x4_u(f32x4.add(fuse(front, behind, alpha, pixel), f32x4.splat(0.5)));
}
