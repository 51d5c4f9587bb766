/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Grid } from './grid.js';
import { interpolation, type Interpolation } from './interpolation.js';

/** Reads planes of a grid at the centres of pixels, linearly between the cells. */
export class GridSampler {
  readonly #gridWidth: number;
  readonly #columns: Interpolation;
  readonly #rows: Interpolation;
  #topLeft = 0;
  #topRight = 0;
  #bottomLeft = 0;
  #bottomRight = 0;
  #topLeftShare = 0;
  #topRightShare = 0;
  #bottomLeftShare = 0;
  #bottomRightShare = 0;

  constructor(imageWidth: number, imageHeight: number, grid: Grid) {
    this.#gridWidth = grid.width;
    this.#columns = interpolation(imageWidth, grid.width, grid.step);
    this.#rows = interpolation(imageHeight, grid.height, grid.step);
  }

  /** Goes to a pixel of the image. */
  moveTo(x: number, y: number): void {
    const top = this.#rows.before[y]! * this.#gridWidth;
    const bottom = this.#rows.after[y]! * this.#gridWidth;
    const left = this.#columns.before[x]!;
    const right = this.#columns.after[x]!;
    this.#topLeft = top + left;
    this.#topRight = top + right;
    this.#bottomLeft = bottom + left;
    this.#bottomRight = bottom + right;
    const down = this.#rows.fraction[y]!;
    const across = this.#columns.fraction[x]!;
    this.#bottomRightShare = down * across;
    this.#bottomLeftShare = down - this.#bottomRightShare;
    this.#topRightShare = across - this.#bottomRightShare;
    this.#topLeftShare = 1 - across - this.#bottomLeftShare;
  }

  /** The value of a plane of the grid at the pixel moved to. */
  read(plane: Float32Array): number {
    return (
      plane[this.#topLeft]! * this.#topLeftShare +
      plane[this.#topRight]! * this.#topRightShare +
      plane[this.#bottomLeft]! * this.#bottomLeftShare +
      plane[this.#bottomRight]! * this.#bottomRightShare
    );
  }
}
