/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { interpolation, type Grid, type RgbaImage } from './grid.js';
import { createPlane, type Plane } from './plane.js';

type Planes = readonly [Plane, Plane, Plane];

/** Blurred foreground and background colours on the grid, 0-255. */
interface Layers {
  readonly foreground: Planes;
  readonly background: Planes;
}

const epsilon = 1e-5;
/** Window sides of Blur-Fusion for an image of a megapixel; scaled with the grid. */
const firstSide = 90;
const secondSide = 6;

/**
 * Replaces the colours of translucent pixels by the foreground's own, so that
 * nothing of the old background shines through the edge: Blur-Fusion, applied
 * twice (Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021).
 * Pixels of full alpha keep their colour; `image` is changed in place.
 * @param alpha the matte, 0-255, before tuning: it has to be the true mixture
 * @param wanted tells which pixels will be visible at all
 */
export function estimateForeground(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  wanted: Uint8Array = alpha,
): void {
  const scale = Math.sqrt(grid.width * grid.height) / 1000;
  const cells = cellSums(image, alpha, grid);
  if (!cells.hasEdges) return;
  const scratch = createPlane(grid.width, grid.height);
  const first = blurLayers(cells, Math.max(1, Math.round((firstSide * scale) / 2)), scratch);
  fuseCells(image, alpha, grid, cells, first);
  const second = blurLayers(cells, Math.max(1, Math.round((secondSide * scale) / 2)), scratch);
  fusePixels(image, alpha, grid, second, wanted);
}

interface CellSums {
  /** Mean alpha of each cell, 0-1. */
  readonly alpha: Plane;
  /** Means of `F·α` and `B·(1−α)`. */
  readonly foreground: Planes;
  readonly background: Planes;
  readonly hasEdges: boolean;
}

function createPlanes(grid: Grid): Planes {
  const plane = (): Plane => createPlane(grid.width, grid.height);
  return [plane(), plane(), plane()];
}

function cellSums(image: RgbaImage, alpha: Uint8Array, grid: Grid): CellSums {
  const { width, height, data } = image;
  const { step } = grid;
  const mean = createPlane(grid.width, grid.height);
  const foreground = createPlanes(grid);
  const background = createPlanes(grid);
  const [fr, fg, fb] = foreground.map((plane) => plane.data) as [Float32Array, Float32Array, Float32Array];
  const [br, bg, bb] = background.map((plane) => plane.data) as [Float32Array, Float32Array, Float32Array];
  let hasEdges = false;
  for (let y = 0; y < height; y++) {
    const cellRow = Math.floor(y / step);
    const rowsInCell = Math.min(step, height - cellRow * step);
    for (let x = 0, at = y * width, cell = cellRow * grid.width; x < width; cell++) {
      const end = Math.min(x + step, width);
      const weight = 1 / ((end - x) * rowsInCell);
      let a = 0;
      let r = 0;
      let g = 0;
      let b = 0;
      let ar = 0;
      let ag = 0;
      let ab = 0;
      for (; x < end; x++, at++) {
        const value = alpha[at]!;
        const i = at * 4;
        a += value;
        r += data[i]!;
        g += data[i + 1]!;
        b += data[i + 2]!;
        ar += value * data[i]!;
        ag += value * data[i + 1]!;
        ab += value * data[i + 2]!;
        if (value !== 0 && value !== 255) hasEdges = true;
      }
      const scaled = weight / 255;
      mean.data[cell]! += a * scaled;
      fr[cell]! += ar * scaled;
      fg[cell]! += ag * scaled;
      fb[cell]! += ab * scaled;
      br[cell]! += r * weight - ar * scaled;
      bg[cell]! += g * weight - ag * scaled;
      bb[cell]! += b * weight - ab * scaled;
    }
  }
  return { alpha: mean, foreground, background, hasEdges };
}

/** `F̂ = box(Fα)/(box(α)+ε)` and `B̂ = box(B(1−α))/(1−box(α)+ε)`. */
function blurLayers(cells: CellSums, radius: number, scratch: Plane): Layers {
  const { width, height } = scratch;
  const blurred = createPlane(width, height);
  boxFilter(cells.alpha, radius, scratch, blurred);
  const layer = (source: Plane, inverse: boolean): Plane => {
    const plane = createPlane(width, height);
    boxFilter(source, radius, scratch, plane);
    const { data } = plane;
    const a = blurred.data;
    if (inverse) for (let i = 0; i < data.length; i++) data[i]! /= 1 - a[i]! + epsilon;
    else for (let i = 0; i < data.length; i++) data[i]! /= a[i]! + epsilon;
    return plane;
  };
  const both = (planes: Planes, inverse: boolean): Planes => [
    layer(planes[0], inverse),
    layer(planes[1], inverse),
    layer(planes[2], inverse),
  ];
  return { foreground: both(cells.foreground, false), background: both(cells.background, true) };
}

/**
 * Puts the first estimate into the cells: means of `F₁·α`, where
 * `F₁ = clip(F̂ + α(I − αF̂ − (1−α)B̂))` is computed for every pixel of a cell
 * with edges, and of `B̂·(1−α)`.
 */
function fuseCells(image: RgbaImage, alpha: Uint8Array, grid: Grid, cells: CellSums, first: Layers): void {
  const { step } = grid;
  const coverage = cells.alpha.data;
  const sums = new Float64Array(3);
  for (let cellY = 0, cell = 0; cellY < grid.height; cellY++) {
    const bottom = Math.min(image.height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const remainder = 1 - coverage[cell]!;
      for (let channel = 0; channel < 3; channel++) {
        cells.background[channel]!.data[cell] = first.background[channel]!.data[cell]! * remainder;
      }
      if (coverage[cell]! <= 0 || remainder < 1e-6) continue;
      const right = Math.min(image.width, (cellX + 1) * step);
      sums.fill(0);
      for (let y = cellY * step; y < bottom; y++) {
        for (let x = cellX * step, at = y * image.width + x; x < right; x++, at++) {
          const a = alpha[at]! / 255;
          if (a === 0) continue;
          for (let channel = 0; channel < 3; channel++) {
            const f = first.foreground[channel]!.data[cell]!;
            const b = first.background[channel]!.data[cell]!;
            sums[channel]! += a * fuse(f, b, a, image.data[at * 4 + channel]!);
          }
        }
      }
      const weight = 1 / ((bottom - cellY * step) * (right - cellX * step));
      for (let channel = 0; channel < 3; channel++) {
        cells.foreground[channel]!.data[cell] = sums[channel]! * weight;
      }
    }
  }
}

function fuse(foreground: number, background: number, alpha: number, value: number): number {
  const estimate = foreground + alpha * (value - alpha * foreground - (1 - alpha) * background);
  return estimate < 0 ? 0 : estimate > 255 ? 255 : estimate;
}

/** The second estimate, for every visible pixel that is not fully opaque. */
function fusePixels(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  layers: Layers,
  wanted: Uint8Array,
): void {
  const { width, height, data } = image;
  const columns = interpolation(width, grid.width, grid.step);
  const rows = interpolation(height, grid.height, grid.step);
  for (let y = 0; y < height; y++) {
    const top = rows.cell[y]! * grid.width;
    const bottom = rows.next[y]! * grid.width;
    const down = rows.fraction[y]!;
    for (let x = 0, at = y * width; x < width; x++, at++) {
      if (alpha[at] === 255 || wanted[at] === 0) continue;
      const left = columns.cell[x]!;
      const right = columns.next[x]!;
      const across = columns.fraction[x]!;
      const a = alpha[at]! / 255;
      for (let channel = 0; channel < 3; channel++) {
        const f = bilinear(layers.foreground[channel]!.data, top, bottom, left, right, across, down);
        const b = bilinear(layers.background[channel]!.data, top, bottom, left, right, across, down);
        const i = at * 4 + channel;
        data[i] = fuse(f, b, a, data[i]!) + 0.5;
      }
    }
  }
}

function bilinear(
  data: Float32Array,
  top: number,
  bottom: number,
  left: number,
  right: number,
  across: number,
  down: number,
): number {
  const above = data[top + left]! + (data[top + right]! - data[top + left]!) * across;
  const below = data[bottom + left]! + (data[bottom + right]! - data[bottom + left]!) * across;
  return above + (below - above) * down;
}
