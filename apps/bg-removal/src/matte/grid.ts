/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { pixelWords, type RgbaImage } from '../images/rgba-image.js';
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';

/** One plane per channel. */
export type Planes = readonly [Plane, Plane, Plane];

/** Maximum number of cells: about the network's resolution, and few enough to be fast. */
const maxGridCells = 400_000;

/**
 * The coarse grid for neighbourhood computations: cells of `step × step` pixels (the last
 * column and row may be smaller). Box means over a large image equal box means over its cell
 * means, so their cost does not grow with the image.
 */
export interface Grid {
  readonly step: number;
  readonly width: number;
  readonly height: number;
}

export function gridFor(imageWidth: number, imageHeight: number): Grid {
  const step = Math.max(1, Math.ceil(Math.sqrt((imageWidth * imageHeight) / maxGridCells)));
  return { step, width: Math.ceil(imageWidth / step), height: Math.ceil(imageHeight / step) };
}

/** Three channels of the size of a grid. */
export function createPlanes({ width, height }: Grid, team: Team): Planes {
  const plane = (): Plane => createPlane(width, height, team);
  return [plane(), plane(), plane()];
}

/** Mean colour of every cell, 0-255. */
export function cellColours(image: RgbaImage, grid: Grid, team: Team = alone): Planes {
  const planes = createPlanes(grid, team);
  team.each(grid.height, (from, to) => addColours(image, grid, planes, from, to));
  return planes;
}

function addColours(image: RgbaImage, grid: Grid, planes: Planes, top: number, bottom: number): void {
  const [red, green, blue] = [planes[0].data, planes[1].data, planes[2].data];
  for (const plane of [red, green, blue]) plane.fill(0, top * grid.width, bottom * grid.width);
  const { width, height } = image;
  const { step } = grid;
  const words = pixelWords(image);
  for (let y = top * step; y < Math.min(height, bottom * step); y++) {
    const cellY = Math.floor(y / step);
    const rowsInCell = Math.min(step, height - cellY * step);
    for (let x = 0, at = y * width, cell = cellY * grid.width; x < width; cell++) {
      const end = Math.min(x + step, width);
      const weight = 1 / ((end - x) * rowsInCell);
      // Red and blue share a word, one in each half; the sums of a cell's row fit.
      let redAndBlue = 0;
      let g = 0;
      for (; x < end; x++, at++) {
        const word = words[at]!;
        redAndBlue = (redAndBlue + (word & 0xff00ff)) | 0;
        g += (word >>> 8) & 255;
      }
      red[cell]! += (redAndBlue & 0xffff) * weight;
      green[cell]! += g * weight;
      blue[cell]! += (redAndBlue >>> 16) * weight;
    }
  }
}
