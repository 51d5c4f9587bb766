/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Grid } from './grid.js';
import type { Plane } from './plane.js';

/**
 * Reads grid planes at pixel centres, with linear interpolation between cells. Pixels are
 * visited row by row, so we blend the two cell rows around a pixel row only once per cell, when
 * first needed.
 */
export class GridSampler {
  readonly #planes: readonly Float32Array[];
  readonly #gridWidth: number;
  readonly #columns: Interpolation;
  readonly #rows: Interpolation;
  /** Blended values of all planes for pixel row {@link #y}; valid for columns whose {@link #mixedFor} equals it. */
  readonly #mixed: Float32Array;
  readonly #mixedFor: Int32Array;
  #y = -1;
  #left = 0;
  #right = 0;
  #across = 0;

  constructor(imageWidth: number, imageHeight: number, grid: Grid, planes: readonly Plane[]) {
    this.#planes = planes.map(({ data }) => data);
    this.#gridWidth = grid.width;
    this.#columns = interpolation(imageWidth, grid.width, grid.step);
    this.#rows = interpolation(imageHeight, grid.height, grid.step);
    this.#mixed = new Float32Array(grid.width * planes.length);
    this.#mixedFor = new Int32Array(grid.width).fill(-1);
  }

  /** Moves to a pixel of the image. */
  moveTo(x: number, y: number): void {
    const left = this.#columns.before[x]!;
    const right = this.#columns.after[x]!;
    this.#y = y;
    if (this.#mixedFor[left] !== y) this.#mix(left);
    if (this.#mixedFor[right] !== y) this.#mix(right);
    this.#left = left * this.#planes.length;
    this.#right = right * this.#planes.length;
    this.#across = this.#columns.fraction[x]!;
  }

  /** The value of a plane, by its index, at the current pixel. */
  read(channel: number): number {
    const left = this.#mixed[this.#left + channel]!;
    return left + (this.#mixed[this.#right + channel]! - left) * this.#across;
  }

  #mix(column: number): void {
    const planes = this.#planes;
    const y = this.#y;
    const down = this.#rows.fraction[y]!;
    const top = this.#rows.before[y]! * this.#gridWidth + column;
    const bottom = this.#rows.after[y]! * this.#gridWidth + column;
    for (let channel = 0, to = column * planes.length; channel < planes.length; channel++, to++) {
      const plane = planes[channel]!;
      const above = plane[top]!;
      this.#mixed[to] = above + (plane[bottom]! - above) * down;
    }
    this.#mixedFor[column] = y;
  }
}

/** For each pixel: the samples before and after its centre, and its fractional position between them. */
export interface Interpolation {
  readonly before: Int32Array;
  /** The same as `before` at the border. */
  readonly after: Int32Array;
  readonly fraction: Float32Array;
}

/**
 * Linear interpolation of `samples` samples at the centres of `pixels` pixels. A sample is
 * `pixelsPerSample` pixels wide and has its value at its centre.
 */
export function interpolation(pixels: number, samples: number, pixelsPerSample: number): Interpolation {
  const before = new Int32Array(pixels);
  const after = new Int32Array(pixels);
  const fraction = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const position = Math.min(Math.max((i + 0.5) / pixelsPerSample - 0.5, 0), samples - 1);
    const floor = Math.floor(position);
    before[i] = floor;
    after[i] = Math.min(floor + 1, samples - 1);
    fraction[i] = position - floor;
  }
  return { before, after, fraction };
}
