import { slide, windowShare } from './box-filter';
import {
  channelOf,
  firstLanes,
  floatsAt,
  fuse,
  lane0,
  lane1,
  lane2,
  narrow,
  sixthPower,
  sumsOf,
} from './vectors';

/**
 * Weighted sums of the colours of each cell in rows `firstRow` to `lastRow`: red, green, blue, and
 * of the weights.
 * @param hasMixed one byte for each cell: 1 if it has pixels that are neither 0 nor 255
 */
export function weighCells(
  pixels: usize,
  alpha: usize,
  width: i32,
  height: i32,
  step: i32,
  isOpaque: bool,
  colours: usize,
  foreground: usize,
  background: usize,
  hasMixed: usize,
  firstRow: i32,
  lastRow: i32,
): void {
  const zero = f32x4.splat(0);
  const gridWidth = (width + step - 1) / step;
  let cell = <usize>(firstRow * gridWidth);
  for (let cellY = firstRow; cellY < lastRow; cellY++) {
    const top = cellY * step;
    const bottom = min(height, top + step);
    for (let left = 0; left < width; left += step, cell++) {
      const right = min(width, left + step);
      const own = isOpaque ? 255 : ownAlphaOf(pixels, width, left, top, right, bottom);
      let front = zero;
      let behind = zero;
      let isMixed = false;
      if (own === 255 && isUniform(alpha, width, left, top, right, bottom)) {
        const colour = f32x4.replace_lane(v128.load(colours + (cell << 4)), 3, 1);
        if (load<u8>(alpha + <usize>(top * width + left)) === 0) behind = colour;
        else front = colour;
      } else if (own !== 0) {
        isMixed = true;
        let frontRed = zero;
        let frontGreen = zero;
        let frontBlue = zero;
        let behindRed = zero;
        let behindGreen = zero;
        let behindBlue = zero;
        for (let y = top; y < bottom; y++) {
          for (let x = left; x < right; x += 4) {
            const at = <usize>(y * width + x);
            const four = v128.load(pixels + (at << 2));
            const visible = v128.and(channelOf(four, 3), firstLanes(right - x));
            const value = f32x4.mul(floatsAt(alpha + at), f32x4.splat(<f32>1 / 255));
            const frontShare = f32x4.mul(sixthPower(value), visible);
            const behindShare = f32x4.mul(sixthPower(f32x4.sub(f32x4.splat(1), value)), visible);
            const red = channelOf(four, 0);
            const green = channelOf(four, 1);
            const blue = channelOf(four, 2);
            front = f32x4.add(front, frontShare);
            frontRed = f32x4.add(frontRed, f32x4.mul(frontShare, red));
            frontGreen = f32x4.add(frontGreen, f32x4.mul(frontShare, green));
            frontBlue = f32x4.add(frontBlue, f32x4.mul(frontShare, blue));
            behind = f32x4.add(behind, behindShare);
            behindRed = f32x4.add(behindRed, f32x4.mul(behindShare, red));
            behindGreen = f32x4.add(behindGreen, f32x4.mul(behindShare, green));
            behindBlue = f32x4.add(behindBlue, f32x4.mul(behindShare, blue));
          }
        }
        const count = (bottom - top) * (right - left);
        const share = f32x4.splat(<f32>1 / (255 * <f32>count));
        front = f32x4.mul(sumsOf(frontRed, frontGreen, frontBlue, front), share);
        behind = f32x4.mul(sumsOf(behindRed, behindGreen, behindBlue, behind), share);
      }
      store<u8>(hasMixed + cell, isMixed ? 1 : 0);
      v128.store(foreground + (cell << 4), front);
      v128.store(background + (cell << 4), behind);
    }
  }
}

/** Whether the matte is 0 or 255 everywhere in an area. */
function isUniform(alpha: usize, width: i32, left: i32, top: i32, right: i32, bottom: i32): bool {
  const first = load<u8>(alpha + <usize>(top * width + left));
  if (first !== 0 && first !== 255) return false;
  const four = first === 0 ? 0 : 0xffffffff;
  for (let y = top; y < bottom; y++) {
    let at = alpha + <usize>(y * width + left);
    const end = at + <usize>(right - left);
    for (; at + 4 <= end; at += 4) if (load<u32>(at) !== four) return false;
    for (; at < end; at++) if (load<u8>(at) !== first) return false;
  }
  return true;
}

/** The image's own alpha in an area if it is uniformly 0 or 255, otherwise 1. */
function ownAlphaOf(pixels: usize, width: i32, left: i32, top: i32, right: i32, bottom: i32): i32 {
  const first = <i32>load<u8>(pixels + ((<usize>(top * width + left)) << 2), 3);
  if (first !== 0 && first !== 255) return 1;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      if (load<u8>(pixels + ((<usize>(y * width + x)) << 2), 3) !== first) return 1;
    }
  }
  return first;
}

/**
 * Finishes box filters of both layers over the cells above and below, and converts the weighted
 * sums to weighted means; uses a cell's own colour if the weight is almost 0. The foreground's
 * fourth channel becomes the certainty: whether there is enough of both to know their colours.
 * @param sums memory for eight doubles for each column
 * @param leastCoverage weight from which a colour is known at all
 * @param someCoverage weight from which it counts
 * @param goodCoverage weight from which it counts fully
 */
export function layerColumns(
  frontRows: usize,
  behindRows: usize,
  colours: usize,
  foreground: usize,
  background: usize,
  sums: usize,
  width: i32,
  height: i32,
  radius: i32,
  leastCoverage: f64,
  someCoverage: f64,
  goodCoverage: f64,
  left: i32,
  right: i32,
): void {
  const reach = min(radius, height - 1);
  const stride = (<usize>width) << 4;
  const offset = (<usize>left) << 4;
  const size = (<usize>(right - left)) << 5;
  const first = sums + ((<usize>left) << 6);
  memory.fill(first, 0, 2 * size);
  const perCoverage = <f64>1 / (goodCoverage - someCoverage);
  for (let y = -reach; y < height; y++) {
    slide(first, first + size, frontRows + offset, stride, y, reach, height);
    slide(first + size, first + 2 * size, behindRows + offset, stride, y, reach, height);
    if (y < 0) continue;
    const share = windowShare(y, reach, height);
    let to = <usize>y * stride + offset;
    for (let at = first; at < first + size; at += 32, to += 16) {
      const colour = v128.load(colours + to);
      const front = load<f64>(at, 24);
      const behind = load<f64>(at + size, 24);
      const certainty =
        known(front * share, someCoverage, perCoverage) * known(behind * share, someCoverage, perCoverage);
      const frontColour = front * share > leastCoverage ? meanColour(at, front) : colour;
      const behindColour = behind * share > leastCoverage ? meanColour(at + size, behind) : colour;
      v128.store(foreground + to, f32x4.replace_lane(frontColour, 3, <f32>certainty));
      v128.store(background + to, behindColour);
    }
  }
}

function meanColour(sums: usize, weight: f64): v128 {
  const share = f64x2.splat(1 / weight);
  return narrow(f64x2.mul(v128.load(sums), share), f64x2.mul(v128.load(sums, 16), share));
}

function known(coverage: f64, someCoverage: f64, perCoverage: f64): f64 {
  return min<f64>(1, max<f64>(0, (coverage - someCoverage) * perCoverage));
}

/**
 * Replaces the weighted colours of rows `firstRow` to `lastRow` by the first estimate: every
 * pixel of a mixed cell by its foreground colour, and the background of all cells by `B̂`.
 * @param cellForeground and `cellBackground`, of {@link weighCells}; modified
 */
export function fuseCells(
  pixels: usize,
  alpha: usize,
  width: i32,
  height: i32,
  step: i32,
  foreground: usize,
  background: usize,
  hasMixed: usize,
  cellForeground: usize,
  cellBackground: usize,
  firstRow: i32,
  lastRow: i32,
): void {
  const gridWidth = (width + step - 1) / step;
  let cell = <usize>(firstRow * gridWidth);
  for (let cellY = firstRow; cellY < lastRow; cellY++) {
    const top = cellY * step;
    const bottom = min(height, top + step);
    for (let left = 0; left < width; left += step, cell++) {
      const offset = cell << 4;
      const behind = v128.load(background + offset);
      const weight = load<f32>(cellBackground + offset, 12);
      const weighted = f32x4.mul(behind, f32x4.splat(weight));
      v128.store(cellBackground + offset, f32x4.replace_lane(weighted, 3, weight));
      if (load<u8>(hasMixed + cell) === 0) continue;
      const right = min(width, left + step);
      const front = v128.load(foreground + offset);
      const frontRed = lane0(front);
      const frontGreen = lane1(front);
      const frontBlue = lane2(front);
      const behindRed = lane0(behind);
      const behindGreen = lane1(behind);
      const behindBlue = lane2(behind);
      let red = f32x4.splat(0);
      let green = f32x4.splat(0);
      let blue = f32x4.splat(0);
      for (let y = top; y < bottom; y++) {
        for (let x = left; x < right; x += 4) {
          const at = <usize>(y * width + x);
          const four = v128.load(pixels + (at << 2));
          const visible = v128.and(channelOf(four, 3), firstLanes(right - x));
          const value = f32x4.mul(floatsAt(alpha + at), f32x4.splat(<f32>1 / 255));
          const share = f32x4.mul(sixthPower(value), visible);
          red = f32x4.add(red, f32x4.mul(share, fuse(frontRed, behindRed, value, channelOf(four, 0))));
          green = f32x4.add(
            green,
            f32x4.mul(share, fuse(frontGreen, behindGreen, value, channelOf(four, 1))),
          );
          blue = f32x4.add(blue, f32x4.mul(share, fuse(frontBlue, behindBlue, value, channelOf(four, 2))));
        }
      }
      const sum = sumsOf(red, green, blue, f32x4.splat(0));
      const count = (bottom - top) * (right - left);
      const share = f32x4.splat(<f32>1 / (255 * <f32>count));
      const kept = load<f32>(cellForeground + offset, 12);
      v128.store(cellForeground + offset, f32x4.replace_lane(f32x4.mul(sum, share), 3, kept));
    }
  }
}
