import { mixed } from './vectors';

/** Columns that vectors read beyond the last one. */
const more = 4;

/** Where a pixel's centre lies on a line of `count` samples; each pixel spans `samples` of them. */
export function positionOf(pixel: i32, samples: f64, count: i32): f64 {
  return min<f64>(max<f64>((<f64>pixel + 0.5) * samples - 0.5, 0), <f64>(count - 1));
}

/**
 * Prepares {@link sampleAt}: for each column of pixels, the offset of the cell before its centre,
 * and its fractional position between that and the next cell.
 */
export function findColumns(columns: usize, width: i32, step: i32, gridWidth: i32): void {
  const cellsPerPixel = <f64>1 / <f64>step;
  for (let x = 0; x < width + more; x++, columns += 8) {
    const position = positionOf(x, cellsPerPixel, gridWidth);
    const before = <i32>position;
    store<i32>(columns, before << 4);
    store<f32>(columns, <f32>(position - <f64>before), 4);
  }
}

/**
 * Interpolates the cells of a grid at the centres of the pixels of row `y`; `row` gets one cell for
 * each column and the last one again.
 */
export function sampleRow(cells: usize, width: i32, height: i32, step: i32, y: i32, row: usize): void {
  const position = positionOf(y, <f64>1 / <f64>step, height);
  const above = <i32>position;
  const share = f32x4.splat(<f32>(position - <f64>above));
  let upper = cells + ((<usize>(above * width)) << 4);
  let lower = cells + ((<usize>(min(above + 1, height - 1) * width)) << 4);
  for (const end = row + ((<usize>width) << 4); row < end; row += 16, upper += 16, lower += 16) {
    v128.store(row, mixed(v128.load(upper), v128.load(lower), share));
  }
  v128.store(row, v128.load(row - 16));
}

/** The value of a row of {@link sampleRow} in a column of {@link findColumns}. */
export function sampleAt(row: usize, columns: usize, x: i32): v128 {
  const column = columns + ((<usize>x) << 3);
  const before = row + <usize>load<u32>(column);
  return mixed(v128.load(before), v128.load(before, 16), v128.load32_splat(column, 4));
}

/** Bytes of a row of {@link sampleRow}. */
export function rowBytes(gridWidth: i32): usize {
  return (<usize>(gridWidth + 1)) << 4;
}

/** Bytes of the columns of {@link findColumns}. */
export function columnBytes(width: i32): usize {
  return (<usize>(width + more)) << 3;
}
