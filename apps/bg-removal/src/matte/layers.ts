/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilterAll } from './box-filter.js';
import { pixelWords, type RgbaImage } from '../images/rgba-image.js';
import { cellColours, createPlanes, type Grid, type Planes } from './grid.js';
import { hasOwnAlpha } from './own-alpha.js';
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';
import { isFilledWith, viewOf, type Bounds } from './uniform.js';

/** Colours on the grid, 0-255. */
interface Colours {
  readonly foreground: Planes;
  readonly background: Planes;
}

/** The colours that the image is mixed from around each grid cell. */
export interface Layers extends Colours {
  /** 0-1: whether there is enough of both nearby to know their colours. */
  readonly certainty: Plane;
}

/** Window sides of the two passes for an image of one megapixel; they scale with the image's sides. */
const firstSide = 90;
const secondSide = 12;
/** Pixels count by `α^power` as foreground and by `(1−α)^power` as background; 1 is the published method. */
const power = 6;

/** Below this share of foreground (or background) in a window, its colour is unknown. */
const leastCoverage = 1e-9;
/**
 * Weighted coverage of a window above which a colour starts to count as known (half-opaque
 * pixels reach it), and fully.
 */
const someCoverage = 0.5 ** power;
const goodCoverage = 0.06;

/**
 * Estimates the colours of foreground and background: Blur-Fusion ×2 (Forte, "Approximate Fast
 * Foreground Colour Estimation", ICIP 2021), weighted towards the purest pixels of a window,
 * because a mean over mixed pixels is mixed too, and by the image's own alpha, because hidden
 * pixels have no meaningful colour. The sides and the power were chosen by measurement; see
 * docs/internals/decisions-bg-removal.md.
 * @param alpha the matte, 0-255, before tuning, because it must be the true mixture
 * @param colours the cells' colours, if already computed
 * @param isOpaque whether no pixel of the image is transparent
 */
export function estimateLayers(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  colours: Planes = cellColours(image, grid),
  team: Team = alone,
  isOpaque = !hasOwnAlpha(image, team),
): Layers {
  const scale = Math.sqrt(grid.width * grid.height) / 1000;
  const radius = (side: number): number => Math.max(1, Math.round((side * scale) / 2));
  const weights = Float32Array.from({ length: 256 }, (_, value) => (value / 255) ** power);
  const cells = createCells(grid, team);
  team.each(grid.height, (from, to) =>
    weighCells(image, isOpaque, alpha, grid, colours, weights, cells, from, to),
  );
  const first = blurLayers(cells, colours, radius(firstSide), grid, team);
  team.each(grid.height, (from, to) => fuseCells(image, alpha, grid, cells, first, weights, from, to));
  return blurLayers(cells, colours, radius(secondSide), grid, team);
}

/**
 * The foreground colour of a pixel: `clip(F̂ + α(I − αF̂ − (1−α)B̂))`. All values are 0-255,
 * except `alpha` (0-1).
 */
export function fuse(foreground: number, background: number, alpha: number, value: number): number {
  const estimate = foreground + alpha * (value - alpha * foreground - (1 - alpha) * background);
  return estimate < 0 ? 0 : estimate > 255 ? 255 : estimate;
}

/** Weighted sums of the colours of each cell, and the sums of the weights. */
interface WeighedCells extends Colours {
  readonly foregroundWeight: Plane;
  readonly backgroundWeight: Plane;
  /** 1 if a cell has pixels that are neither 0 nor 255. */
  readonly mixed: Uint8Array;
}

function createCells(grid: Grid, team: Team): WeighedCells {
  return {
    foregroundWeight: createPlane(grid.width, grid.height, team),
    backgroundWeight: createPlane(grid.width, grid.height, team),
    mixed: team.bytes(grid.width * grid.height),
    foreground: createPlanes(grid, team),
    background: createPlanes(grid, team),
  };
}

/** Fills rows `firstRow` to `lastRow` of `cells`. */
function weighCells(
  image: RgbaImage,
  isOpaque: boolean,
  alpha: Uint8Array,
  grid: Grid,
  colours: Planes,
  weights: Float32Array,
  cells: WeighedCells,
  firstRow: number,
  lastRow: number,
): void {
  const { width, height } = image;
  const words = pixelWords(image);
  const { step } = grid;
  const view = viewOf(alpha);
  const { foregroundWeight, backgroundWeight, mixed, foreground, background } = cells;
  mixed.fill(0, firstRow * grid.width, lastRow * grid.width);
  for (const { data } of [foregroundWeight, backgroundWeight, ...foreground, ...background])
    data.fill(0, firstRow * grid.width, lastRow * grid.width);
  for (let cellY = firstRow, cell = firstRow * grid.width; cellY < lastRow; cellY++) {
    const bottom = Math.min(height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const right = Math.min(width, (cellX + 1) * step);
      const area = { left: cellX * step, top: cellY * step, right, bottom };
      const own = isOpaque ? 255 : ownAlphaOf(words, width, area);
      if (own === 0) continue;
      const first = alpha[area.top * width + area.left]!;
      if (own === 255 && (first === 0 || first === 255) && isFilledWith(view, width, area, first)) {
        const isForeground = first === 255;
        (isForeground ? foregroundWeight : backgroundWeight).data[cell] = 1;
        const layer = isForeground ? foreground : background;
        for (let channel = 0; channel < 3; channel++)
          layer[channel]!.data[cell] = colours[channel]!.data[cell]!;
        continue;
      }
      mixed[cell] = 1;
      // Use local sums, because this is the innermost loop over every soft edge.
      let front = 0;
      let behind = 0;
      let [frontRed, frontGreen, frontBlue] = [0, 0, 0];
      let [behindRed, behindGreen, behindBlue] = [0, 0, 0];
      for (let y = cellY * step; y < bottom; y++) {
        for (let x = cellX * step, at = y * width + x; x < right; x++, at++) {
          const word = words[at]!;
          const value = alpha[at]!;
          const visible = word >>> 24;
          const frontShare = weights[value]! * visible;
          const behindShare = weights[255 - value]! * visible;
          const red = word & 255;
          const green = (word >>> 8) & 255;
          const blue = (word >>> 16) & 255;
          front += frontShare;
          behind += behindShare;
          frontRed += frontShare * red;
          frontGreen += frontShare * green;
          frontBlue += frontShare * blue;
          behindRed += behindShare * red;
          behindGreen += behindShare * green;
          behindBlue += behindShare * blue;
        }
      }
      const share = 1 / (255 * (bottom - cellY * step) * (right - cellX * step));
      foregroundWeight.data[cell] = front * share;
      backgroundWeight.data[cell] = behind * share;
      foreground[0].data[cell] = frontRed * share;
      foreground[1].data[cell] = frontGreen * share;
      foreground[2].data[cell] = frontBlue * share;
      background[0].data[cell] = behindRed * share;
      background[1].data[cell] = behindGreen * share;
      background[2].data[cell] = behindBlue * share;
    }
  }
}

/** The image's own alpha in a cell if it is uniformly 0 or 255, otherwise undefined. */
function ownAlphaOf(
  words: Uint32Array,
  width: number,
  { left, top, right, bottom }: Bounds,
): 0 | 255 | undefined {
  const first = words[top * width + left]! >>> 24;
  if (first !== 0 && first !== 255) return undefined;
  for (let y = top; y < bottom; y++) {
    for (let at = y * width + left; at < y * width + right; at++) {
      if (words[at]! >>> 24 !== first) return undefined;
    }
  }
  return first;
}

/** Weighted means of the colours in the window around each cell: `F̂` and `B̂`. */
function blurLayers(cells: WeighedCells, colours: Planes, radius: number, grid: Grid, team: Team): Layers {
  const [front, behind] = [
    createPlane(grid.width, grid.height, team),
    createPlane(grid.width, grid.height, team),
  ];
  const [foreground, background] = [createPlanes(grid, team), createPlanes(grid, team)];
  const certainty = createPlane(grid.width, grid.height, team);
  boxFilterAll(
    [cells.foregroundWeight, cells.backgroundWeight, ...cells.foreground, ...cells.background],
    radius,
    team,
    [front, behind, ...foreground, ...background],
  );
  team.each(certainty.data.length, (from, to) => {
    for (const channel of [0, 1, 2] as const) {
      divide(foreground[channel].data, front.data, colours[channel].data, from, to);
      divide(background[channel].data, behind.data, colours[channel].data, from, to);
    }
    rateCertainty(certainty.data, front.data, behind.data, from, to);
  });
  return { foreground, background, certainty };
}

/** Converts weighted sums to weighted means, in place. Uses a cell's own colour if the weight is almost 0. */
function divide(
  sums: Float32Array,
  coverage: Float32Array,
  own: Float32Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) {
    const total = coverage[i]!;
    sums[i] = total > leastCoverage ? sums[i]! / total : own[i]!;
  }
}

function known(coverage: number): number {
  return Math.min(1, Math.max(0, (coverage - someCoverage) / (goodCoverage - someCoverage)));
}

function rateCertainty(
  values: Float32Array,
  fronts: Float32Array,
  behinds: Float32Array,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) values[i] = known(fronts[i]!) * known(behinds[i]!);
}

/**
 * Stores the first estimate in the mixed cells: `F₁ = clip(F̂ + α(I − αF̂ − (1−α)B̂))` instead
 * of every pixel's colour, and `B̂` for the background.
 */
function fuseCells(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  cells: WeighedCells,
  first: Colours,
  weights: Float32Array,
  top: number,
  last: number,
): void {
  const { width, height } = image;
  const words = pixelWords(image);
  const { step } = grid;
  for (let cellY = top, cell = top * grid.width; cellY < last; cellY++) {
    const bottom = Math.min(height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const behind = cells.backgroundWeight.data[cell]!;
      for (let channel = 0; channel < 3; channel++) {
        cells.background[channel]!.data[cell] = first.background[channel]!.data[cell]! * behind;
      }
      if (cells.mixed[cell] === 0) continue;
      const right = Math.min(width, (cellX + 1) * step);
      const [frontRed, frontGreen, frontBlue] = coloursAt(first.foreground, cell);
      const [behindRed, behindGreen, behindBlue] = coloursAt(first.background, cell);
      let [red, green, blue] = [0, 0, 0];
      for (let y = cellY * step; y < bottom; y++) {
        for (let x = cellX * step, at = y * width + x; x < right; x++, at++) {
          const word = words[at]!;
          const weight = weights[alpha[at]!]! * (word >>> 24);
          if (weight === 0) continue;
          const a = alpha[at]! / 255;
          red += weight * fuse(frontRed, behindRed, a, word & 255);
          green += weight * fuse(frontGreen, behindGreen, a, (word >>> 8) & 255);
          blue += weight * fuse(frontBlue, behindBlue, a, (word >>> 16) & 255);
        }
      }
      const share = 1 / (255 * (bottom - cellY * step) * (right - cellX * step));
      cells.foreground[0].data[cell] = red * share;
      cells.foreground[1].data[cell] = green * share;
      cells.foreground[2].data[cell] = blue * share;
    }
  }
}

function coloursAt(planes: Planes, cell: number): [number, number, number] {
  return [planes[0].data[cell]!, planes[1].data[cell]!, planes[2].data[cell]!];
}
