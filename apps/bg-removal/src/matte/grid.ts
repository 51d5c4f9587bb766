/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { createPlane, type Plane } from './plane.js';

/** An upright image: interleaved 8-bit RGBA, sRGB, alpha not premultiplied. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** The most cells a grid has: enough for what the network sees, few enough to be quick. */
const maxGridCells = 1_300_000;

/**
 * The coarse grid on which neighbourhoods are computed: cells of `step × step`
 * pixels (the last column and row may be narrower). Box means over a large
 * image equal box means over its cell means, so that their cost does not grow
 * with the image.
 */
export interface Grid {
  readonly step: number;
  readonly width: number;
  readonly height: number;
  readonly imageWidth: number;
  readonly imageHeight: number;
}

export function gridFor(imageWidth: number, imageHeight: number): Grid {
  const step = Math.max(1, Math.ceil(Math.sqrt((imageWidth * imageHeight) / maxGridCells)));
  return {
    step,
    width: Math.ceil(imageWidth / step),
    height: Math.ceil(imageHeight / step),
    imageWidth,
    imageHeight,
  };
}

/** The cells to the left of and above pixel centres, and how far the centres are towards the next cell. */
export interface Interpolation {
  readonly cell: Int32Array;
  /** The next cell, or the same one at the border. */
  readonly next: Int32Array;
  readonly fraction: Float32Array;
}

/** How to interpolate linearly between `cells` cell centres at the centres of `pixels` pixels. */
export function interpolation(pixels: number, cells: number, step: number): Interpolation {
  const cell = new Int32Array(pixels);
  const next = new Int32Array(pixels);
  const fraction = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const position = Math.min(Math.max((i + 0.5) / step - 0.5, 0), cells - 1);
    const left = Math.floor(position);
    cell[i] = left;
    next[i] = Math.min(left + 1, cells - 1);
    fraction[i] = position - left;
  }
  return { cell, next, fraction };
}

/** Mean colour of every cell, 0-255, one plane per channel. */
export function cellColours(image: RgbaImage, grid: Grid): [Plane, Plane, Plane] {
  const planes: [Plane, Plane, Plane] = [
    createPlane(grid.width, grid.height),
    createPlane(grid.width, grid.height),
    createPlane(grid.width, grid.height),
  ];
  const [red, green, blue] = planes.map(({ data }) => data) as [Float32Array, Float32Array, Float32Array];
  const { width, height, data } = image;
  const { step } = grid;
  for (let y = 0; y < height; y++) {
    const row = Math.floor(y / step) * grid.width;
    const rowsInCell = Math.min(step, height - Math.floor(y / step) * step);
    for (let x = 0, i = y * width * 4, cell = row; x < width; cell++) {
      const end = Math.min(x + step, width);
      const weight = 1 / ((end - x) * rowsInCell);
      let r = 0;
      let g = 0;
      let b = 0;
      for (; x < end; x++, i += 4) {
        r += data[i]!;
        g += data[i + 1]!;
        b += data[i + 2]!;
      }
      red[cell]! += r * weight;
      green[cell]! += g * weight;
      blue[cell]! += b * weight;
    }
  }
  return planes;
}
