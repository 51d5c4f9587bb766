import { columnBytes, findColumns, positionOf, rowBytes, sampleAt, sampleRow } from './sampling';
import { limited, mixed, pixel0, pixel1, pixel2, pixel3, storeBytes, sumsOf } from './vectors';

/** Values that round to 0 and to 255. */
const empty: f32 = 0.5 / 255;
const full: f32 = 1 - 0.5 / 255;

/** Bytes that {@link fullAlphaRows} needs as scratch memory. */
export function fullAlphaScratch(width: i32, gridWidth: i32, maskWidth: i32): usize {
  return rowBytes(gridWidth) + columnBytes(width) + ((<usize>(maskWidth + 4 + 2 * (width + 4))) << 2);
}

/**
 * The matte, 0-255, of pixel rows `top` to `bottom`: the mask, interpolated, and where it is
 * undecided, moved towards the local model of alpha.
 * @param model red, green, blue and offset of the grid's cells; 0 for the mask alone
 * @param floor distance from 0 and 1 above which the model counts
 * @param complete distance from which it counts fully
 */
export function fullAlphaRows(
  pixels: usize,
  alpha: usize,
  width: i32,
  height: i32,
  mask: usize,
  maskWidth: i32,
  maskHeight: i32,
  model: usize,
  step: i32,
  floor: f32,
  complete: f32,
  scratch: usize,
  top: i32,
  bottom: i32,
): void {
  const gridWidth = (width + step - 1) / step;
  const gridHeight = (height + step - 1) / step;
  const columns = scratch + rowBytes(gridWidth);
  const values = columns + columnBytes(width);
  findColumns(columns, width, step, gridWidth);
  const samples = values + ((<usize>(maskWidth + 4)) << 2);
  const fractions = samples + ((<usize>(width + 4)) << 2);
  findSamples(samples, fractions, width, maskWidth);
  const samplesPerRow = <f64>maskHeight / <f64>height;
  const perMargin = f32x4.splat(<f32>1 / (complete - floor));
  for (let y = top; y < bottom; y++) {
    const row = alpha + <usize>(y * width);
    blendRows(mask, maskWidth, maskHeight, positionOf(y, samplesPerRow, maskHeight), values);
    let isSampled = false;
    for (let x = 0; x < width; x += 4) {
      const sample = samples + ((<usize>x) << 2);
      const first = values + <usize>load<u32>(sample);
      const second = values + <usize>load<u32>(sample, 4);
      const third = values + <usize>load<u32>(sample, 8);
      const fourth = values + <usize>load<u32>(sample, 12);
      // Only then are all that the pixels read among the five samples from the first on.
      const decision = fourth - first <= 12 ? decided(first) : undecided;
      if (decision !== undecided) {
        storeBytes(row + x, f32x4.splat(<f32>decision), width - x);
        continue;
      }
      const left = fourFloats(first, second, third, fourth);
      const right = fourFloats(first + 4, second + 4, third + 4, fourth + 4);
      let value = mixed(left, right, v128.load(fractions + ((<usize>x) << 2)));
      const distance = f32x4.min(value, f32x4.sub(f32x4.splat(1), value));
      const margin = f32x4.sub(distance, f32x4.splat(floor));
      if (model !== 0 && v128.any_true(f32x4.gt(margin, f32x4.splat(0)))) {
        if (!isSampled) {
          sampleRow(model, gridWidth, gridHeight, step, y, scratch);
          isSampled = true;
        }
        const pixel = pixels + ((<usize>(y * width + x)) << 2);
        const guided = f32x4.mul(modelled(scratch, columns, x, pixel), f32x4.splat(<f32>1 / 255));
        value = mixed(value, limited(guided, 1), limited(f32x4.mul(margin, perMargin), 1));
      }
      storeBytes(row + x, f32x4.mul(value, f32x4.splat(255)), width - x);
    }
  }
}

/**
 * For each column of pixels, the offset of the mask's sample before its centre, and its fractional
 * position between that and the next one.
 */
function findSamples(samples: usize, fractions: usize, width: i32, maskWidth: i32): void {
  const samplesPerPixel = <f64>maskWidth / <f64>width;
  for (let x = 0; x < width + 4; x++, samples += 4, fractions += 4) {
    const position = positionOf(x, samplesPerPixel, maskWidth);
    const before = <i32>position;
    store<i32>(samples, before << 2);
    store<f32>(fractions, <f32>(position - <f64>before));
  }
}

function fourFloats(first: usize, second: usize, third: usize, fourth: usize): v128 {
  const one = v128.load32_zero(first);
  const two = v128.load32_lane(second, one, 1);
  return v128.load32_lane(fourth, v128.load32_lane(third, two, 2), 3);
}

/** What the local model says about four pixels, 0-255. */
function modelled(row: usize, columns: usize, x: i32, pixels: usize): v128 {
  // The offset counts like a fourth channel that is 255.
  const four = v128.or(v128.load(pixels), i32x4.splat(0xff000000));
  return sumsOf(
    f32x4.mul(sampleAt(row, columns, x), pixel0(four)),
    f32x4.mul(sampleAt(row, columns, x + 1), pixel1(four)),
    f32x4.mul(sampleAt(row, columns, x + 2), pixel2(four)),
    f32x4.mul(sampleAt(row, columns, x + 3), pixel3(four)),
  );
}

/** A row of the mask between two of its rows, and its last value four more times. */
function blendRows(mask: usize, width: i32, height: i32, position: f64, values: usize): void {
  const above = <i32>position;
  const down = <f32>(position - <f64>above);
  const share = f32x4.splat(down);
  const upper = mask + ((<usize>(above * width)) << 2);
  const lower = mask + ((<usize>(min(above + 1, height - 1) * width)) << 2);
  const size = (<usize>width) << 2;
  let at: usize = 0;
  for (; at + 16 <= size; at += 16) {
    v128.store(values + at, mixed(v128.load(upper + at), v128.load(lower + at), share));
  }
  for (; at < size; at += 4) {
    const value = load<f32>(upper + at);
    store<f32>(values + at, value + (load<f32>(lower + at) - value) * down);
  }
  v128.store(values + size, f32x4.splat(load<f32>(values + size - 4)));
}

const undecided = -1;

/** 0 or 255 if all pixels between this sample and the fourth after it have this value. */
function decided(samples: usize): i32 {
  const before = v128.load(samples);
  const after = v128.load(samples, 4);
  const isEmpty = v128.and(f32x4.lt(before, f32x4.splat(empty)), f32x4.lt(after, f32x4.splat(empty)));
  if (i32x4.all_true(isEmpty)) return 0;
  const isFull = v128.and(f32x4.gt(before, f32x4.splat(full)), f32x4.gt(after, f32x4.splat(full)));
  return i32x4.all_true(isFull) ? 255 : undecided;
}
