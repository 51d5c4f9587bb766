import { alone, type Team } from './team.js';

/** One number per pixel, row by row. */
export interface Plane {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
}

/** All zeros, unless it is memory of a team of several. */
export function createPlane(width: number, height: number, team: Team = alone): Plane {
  return { width, height, data: team.floats(width * height) };
}
