/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { pixelWords, type RgbaImage } from '../images/rgba-image.js';
import { cellColours, createPlanes, type Grid, type Planes } from './grid.js';
import { createPlane, type Plane } from './plane.js';

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
 */
export function estimateLayers(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  colours: Planes = cellColours(image, grid),
): Layers {
  const scale = Math.sqrt(grid.width * grid.height) / 1000;
  const radius = (side: number): number => Math.max(1, Math.round((side * scale) / 2));
  const weights = Float32Array.from({ length: 256 }, (_, value) => (value / 255) ** power);
  const cells = weighCells(image, alpha, grid, colours, weights);
  const scratch = createPlane(grid.width, grid.height);
  const first = blurLayers(cells, colours, radius(firstSide), scratch);
  fuseCells(image, alpha, grid, cells, first, weights);
  return blurLayers(cells, colours, radius(secondSide), scratch);
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

function weighCells(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  colours: Planes,
  weights: Float32Array,
): WeighedCells {
  const { width, height } = image;
  const words = pixelWords(image);
  const { step } = grid;
  const foregroundWeight = createPlane(grid.width, grid.height);
  const backgroundWeight = createPlane(grid.width, grid.height);
  const mixed = new Uint8Array(grid.width * grid.height);
  const foreground = createPlanes(grid);
  const background = createPlanes(grid);
  for (let cellY = 0, cell = 0; cellY < grid.height; cellY++) {
    const bottom = Math.min(height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const right = Math.min(width, (cellX + 1) * step);
      const own = ownAlphaOf(words, width, cellX * step, cellY * step, right, bottom);
      if (own === 0) continue;
      if (own === 255 && isUniform(alpha, width, cellX * step, cellY * step, right, bottom)) {
        const isForeground = alpha[cellY * step * width + cellX * step] === 255;
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
  return { foregroundWeight, backgroundWeight, mixed, foreground, background };
}

/** Whether a cell is entirely background or entirely foreground. */
function isUniform(
  alpha: Uint8Array,
  width: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
): boolean {
  const first = alpha[top * width + left]!;
  if (first !== 0 && first !== 255) return false;
  for (let y = top; y < bottom; y++) {
    for (let at = y * width + left; at < y * width + right; at++) if (alpha[at] !== first) return false;
  }
  return true;
}

/** The image's own alpha in a cell if it is uniformly 0 or 255, otherwise undefined. */
function ownAlphaOf(
  words: Uint32Array,
  width: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
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
function blurLayers(cells: WeighedCells, colours: Planes, radius: number, scratch: Plane): Layers {
  const { width, height } = scratch;
  const blurred = (plane: Plane): Plane => {
    const result = createPlane(width, height);
    boxFilter(plane, radius, scratch, result);
    return result;
  };
  const means = (layer: Planes, coverage: Plane): Planes => {
    const mean = (channel: 0 | 1 | 2): Plane => {
      const sums = blurred(layer[channel]);
      divide(sums.data, coverage.data, colours[channel].data);
      return sums;
    };
    return [mean(0), mean(1), mean(2)];
  };
  const front = blurred(cells.foregroundWeight);
  const behind = blurred(cells.backgroundWeight);
  return {
    foreground: means(cells.foreground, front),
    background: means(cells.background, behind),
    certainty: certaintyOf(front, behind),
  };
}

/** Converts weighted sums to weighted means, in place. Uses a cell's own colour if the weight is almost 0. */
function divide(sums: Float32Array, coverage: Float32Array, own: Float32Array): void {
  for (let i = 0; i < sums.length; i++) {
    const total = coverage[i]!;
    sums[i] = total > leastCoverage ? sums[i]! / total : own[i]!;
  }
}

function known(coverage: number): number {
  return Math.min(1, Math.max(0, (coverage - someCoverage) / (goodCoverage - someCoverage)));
}

function certaintyOf(front: Plane, behind: Plane): Plane {
  const certainty = createPlane(front.width, front.height);
  const [values, fronts, behinds] = [certainty.data, front.data, behind.data];
  for (let i = 0; i < values.length; i++) values[i] = known(fronts[i]!) * known(behinds[i]!);
  return certainty;
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
): void {
  const { width, height } = image;
  const words = pixelWords(image);
  const { step } = grid;
  for (let cellY = 0, cell = 0; cellY < grid.height; cellY++) {
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
