/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { RgbaImage } from '../images/rgba-image.js';
import type { Grid } from './grid.js';
import { GridSampler } from './grid-sampler.js';
import type { LocalModel } from './guided-filter.js';
import { interpolation, type Interpolation } from './grid-sampler.js';
import type { Plane } from './plane.js';
import { alone, type Team } from './team.js';

/** Refinement starts above this distance from 0 and 1 and is complete at `fullRefinement`. */
const refinementFloor = 0.02;
const fullRefinement = 0.1;
/** Values that round to 0 and to 255. */
const empty = 0.5 / 255;
const full = 1 - empty;

/**
 * The alpha matte at full resolution, 0-255. Interpolates the network's mask linearly. Where it
 * is neither background nor foreground, the guided filter's local model aligns it with the
 * image's edges.
 * @param mask at most about twice the image's size
 */
export function fullAlpha(
  image: RgbaImage,
  mask: Plane,
  refinement?: { grid: Grid; model: LocalModel },
  team: Team = alone,
): Uint8Array {
  const { width, height } = image;
  const alpha = team.bytes(width * height);
  const columns = interpolation(width, mask.width, width / mask.width);
  const rows = interpolation(height, mask.height, height / mask.height);
  const refine = refinement && refinementOf(image, refinement.grid, refinement.model);
  const stretches = new Stretches(mask, columns);
  team.each(height, (from, to) => {
    alpha.fill(0, from * width, to * width);
    fillRows(alpha, mask, columns, rows, stretches, refine, from, to);
  });
  return alpha;
}

function fillRows(
  alpha: Uint8Array,
  mask: Plane,
  columns: Interpolation,
  rows: Interpolation,
  stretches: Stretches,
  refine: Refinement | undefined,
  first: number,
  last: number,
): void {
  const width = columns.before.length;
  for (let y = first; y < last; y++) {
    const top = rows.before[y]! * mask.width;
    const bottom = rows.after[y]! * mask.width;
    const down = rows.fraction[y]!;
    stretches.moveTo(top, bottom);
    const row = y * width;
    for (let k = 0; k < stretches.fullCount; k++) {
      alpha.fill(255, row + stretches.full[2 * k]!, row + stretches.full[2 * k + 1]!);
    }
    for (let k = 0; k < stretches.mixedCount; k++) {
      const start = stretches.mixed[2 * k]!;
      const end = stretches.mixed[2 * k + 1]!;
      const before = columns.before[start]!;
      const after = columns.after[start]!;
      const left = blend(mask.data[top + before]!, mask.data[bottom + before]!, down);
      const right = blend(mask.data[top + after]!, mask.data[bottom + after]!, down);
      if (left < empty && right < empty) continue;
      if (left > full && right > full) {
        alpha.fill(255, row + start, row + end);
        continue;
      }
      for (let x = start; x < end; x++) {
        const value = left + (right - left) * columns.fraction[x]!;
        const margin = Math.min(value, 1 - value) - refinementFloor;
        const refined = refine === undefined || margin <= 0 ? value : refine(value, margin, x, y);
        alpha[row + x] = refined * 255 + 0.5;
      }
    }
  }
}

function blend(above: number, below: number, down: number): number {
  return Math.fround(above + (below - above) * down);
}

/**
 * The pixels of a row, split where the mask's samples around them change. Most stretches lie between
 * samples that are all 0 or all 1, in every row between the same two rows of the mask.
 */
class Stretches {
  /** Starts and ends of what is foreground, and of what must be computed. */
  readonly full: Int32Array;
  readonly mixed: Int32Array;
  fullCount = 0;
  mixedCount = 0;
  readonly #mask: Plane;
  readonly #columns: Interpolation;
  /** Where the stretches start, and the end of the last one. */
  readonly #starts: readonly number[];
  #top = -1;

  constructor(mask: Plane, columns: Interpolation) {
    const starts: number[] = [];
    const { before } = columns;
    for (let x = 0; x < before.length; x++) if (x === 0 || before[x] !== before[x - 1]) starts.push(x);
    starts.push(before.length);
    this.#starts = starts;
    this.#mask = mask;
    this.#columns = columns;
    this.full = new Int32Array(2 * starts.length);
    this.mixed = new Int32Array(2 * starts.length);
  }

  /** Moves to the rows between two rows of the mask, each given by the index of its first sample. */
  moveTo(top: number, bottom: number): void {
    if (top === this.#top) return;
    this.#top = top;
    this.fullCount = 0;
    this.mixedCount = 0;
    const { data } = this.#mask;
    const { before, after } = this.#columns;
    for (let k = 0; k + 1 < this.#starts.length; k++) {
      const start = this.#starts[k]!;
      const end = this.#starts[k + 1]!;
      const left = before[start]!;
      const right = after[start]!;
      const sum = data[top + left]! + data[top + right]! + data[bottom + left]! + data[bottom + right]!;
      if (sum === 0) continue;
      if (sum < 4) {
        this.mixed[2 * this.mixedCount] = start;
        this.mixed[2 * this.mixedCount + 1] = end;
        this.mixedCount += 1;
      } else if (this.fullCount > 0 && this.full[2 * this.fullCount - 1] === start) {
        this.full[2 * this.fullCount - 1] = end;
      } else {
        this.full[2 * this.fullCount] = start;
        this.full[2 * this.fullCount + 1] = end;
        this.fullCount += 1;
      }
    }
  }
}

type Refinement = (value: number, margin: number, x: number, y: number) => number;

/** Applies the local model, interpolated between cells, to single pixels. */
function refinementOf({ width, height, data }: RgbaImage, grid: Grid, model: LocalModel): Refinement {
  const { red, green, blue, offset } = model;
  const sampler = new GridSampler(width, height, grid, [red, green, blue, offset]);
  return (value, margin, x, y) => {
    sampler.moveTo(x, y);
    const i = (y * width + x) * 4;
    const coloured =
      sampler.read(0) * data[i]! + sampler.read(1) * data[i + 1]! + sampler.read(2) * data[i + 2]!;
    const guided = coloured / 255 + sampler.read(3);
    const weight = Math.min(1, margin / (fullRefinement - refinementFloor));
    return value + (Math.min(1, Math.max(0, guided)) - value) * weight;
  };
}
