import type { RgbaImage } from '../images/rgba-image.js';
import type { Team } from './team.js';
import type { TeamMember } from './team-member.js';

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

/** Four channels per cell of a grid, row by row. */
export interface Cells {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

export function createCells({ width, height }: { width: number; height: number }, team: Team): Cells {
  return { width, height, data: team.floats(width * height * 4) };
}

/** Mean colour of every cell, 0-255; the fourth channel is its own alpha. */
export function cellColours(image: RgbaImage, grid: Grid, team: TeamMember): Cells {
  const cells = createCells(grid, team);
  team.run('cellColours', grid.height, {
    pixels: image.data,
    width: image.width,
    height: image.height,
    step: grid.step,
    cells: cells.data,
  });
  return cells;
}
