/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { cellColours, createPlanes, type Grid, type Planes, type RgbaImage } from './grid.js';
import { interpolation } from './interpolation.js';
import { createPlane, type Plane } from './plane.js';

/** Blurred foreground and background colours on the grid, 0-255. */
interface Layers {
  readonly foreground: Planes;
  readonly background: Planes;
}

const epsilon = 1e-5;
/** Window sides of Blur-Fusion in an image of one megapixel; they grow with the image's sides. */
const firstSide = 90;
const secondSide = 6;

/**
 * Replaces the colours of translucent pixels by the foreground's own, so that
 * nothing of the old background shines through the edge: Blur-Fusion, applied
 * twice (Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021).
 * Pixels of full alpha keep their colour; `image` is changed in place.
 * @param alpha the matte, 0-255, before tuning: it has to be the true mixture
 * @param visible which pixels are visible at all; the others are left alone
 * @param colours of the cells, where they are known already
 */
export function estimateForeground(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  visible: Uint8Array = alpha,
  colours: Planes = cellColours(image, grid),
): void {
  const scale = Math.sqrt(grid.width * grid.height) / 1000;
  const radius = (side: number): number => Math.max(1, Math.round((side * scale) / 2));
  const cells = cellMixtures(image, alpha, grid, colours);
  const scratch = createPlane(grid.width, grid.height);
  const first = blurLayers(cells, radius(firstSide), scratch);
  fuseCells(image, alpha, grid, cells, first);
  const second = blurLayers(cells, radius(secondSide), scratch);
  fusePixels(image, alpha, grid, second, visible);
}

interface CellMixtures extends Layers {
  /** Mean alpha of each cell, 0-1. `foreground` and `background` are means of `F·α` and `B·(1−α)`. */
  readonly alpha: Plane;
  /** 1 where a cell has pixels that are neither 0 nor 255. */
  readonly mixed: Uint8Array;
}

function cellMixtures(image: RgbaImage, alpha: Uint8Array, grid: Grid, colours: Planes): CellMixtures {
  const { width, height, data } = image;
  const { step } = grid;
  const mean = createPlane(grid.width, grid.height);
  const mixed = new Uint8Array(grid.width * grid.height);
  const foreground = createPlanes(grid);
  const background = createPlanes(grid);
  for (let cellY = 0, cell = 0; cellY < grid.height; cellY++) {
    const bottom = Math.min(height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const right = Math.min(width, (cellX + 1) * step);
      const first = alpha[cellY * step * width + cellX * step]!;
      let uniform = first === 0 || first === 255;
      let sum = 0;
      for (let y = cellY * step; y < bottom; y++) {
        for (let x = cellX * step, at = y * width + x; x < right; x++, at++) {
          sum += alpha[at]!;
          if (alpha[at] !== first) uniform = false;
        }
      }
      if (uniform) {
        mean.data[cell] = first === 0 ? 0 : 1;
        const layer = first === 0 ? background : foreground;
        for (let channel = 0; channel < 3; channel++)
          layer[channel]!.data[cell] = colours[channel]!.data[cell]!;
        continue;
      }
      mixed[cell] = 1;
      const weight = 1 / (255 * (bottom - cellY * step) * (right - cellX * step));
      mean.data[cell] = sum * weight;
      for (let channel = 0; channel < 3; channel++) {
        let weighted = 0;
        for (let y = cellY * step; y < bottom; y++) {
          for (let x = cellX * step, at = y * width + x; x < right; x++, at++) {
            weighted += alpha[at]! * data[at * 4 + channel]!;
          }
        }
        foreground[channel]!.data[cell] = weighted * weight;
        background[channel]!.data[cell] = colours[channel]!.data[cell]! - weighted * weight;
      }
    }
  }
  return { alpha: mean, mixed, foreground, background };
}

/** `F̂ = box(Fα)/(box(α)+ε)` and `B̂ = box(B(1−α))/(1−box(α)+ε)`. */
function blurLayers(cells: CellMixtures, radius: number, scratch: Plane): Layers {
  const { width, height } = scratch;
  const coverage = createPlane(width, height);
  boxFilter(cells.alpha, radius, scratch, coverage);
  const foregroundScale = coverage.data.map((value) => 1 / (value + epsilon));
  const backgroundScale = coverage.data.map((value) => 1 / (1 - value + epsilon));
  const blur = (source: Plane, scale: Float32Array): Plane => {
    const plane = createPlane(width, height);
    boxFilter(source, radius, scratch, plane);
    const { data } = plane;
    for (let i = 0; i < data.length; i++) data[i]! *= scale[i]!;
    return plane;
  };
  const [fr, fg, fb] = cells.foreground;
  const [br, bg, bb] = cells.background;
  return {
    foreground: [blur(fr, foregroundScale), blur(fg, foregroundScale), blur(fb, foregroundScale)],
    background: [blur(br, backgroundScale), blur(bg, backgroundScale), blur(bb, backgroundScale)],
  };
}

/**
 * Puts the first estimate into the cells: means of `F₁·α`, where
 * `F₁ = clip(F̂ + α(I − αF̂ − (1−α)B̂))` is computed for every pixel of a mixed
 * cell, and of `B̂·(1−α)`.
 */
function fuseCells(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  cells: CellMixtures,
  first: Layers,
): void {
  const { width, height, data } = image;
  const { step } = grid;
  for (let cellY = 0, cell = 0; cellY < grid.height; cellY++) {
    const bottom = Math.min(height, (cellY + 1) * step);
    for (let cellX = 0; cellX < grid.width; cellX++, cell++) {
      const remainder = 1 - cells.alpha.data[cell]!;
      for (let channel = 0; channel < 3; channel++) {
        cells.background[channel]!.data[cell] = first.background[channel]!.data[cell]! * remainder;
      }
      if (cells.mixed[cell] === 0) continue;
      const right = Math.min(width, (cellX + 1) * step);
      const weight = 1 / (255 * (bottom - cellY * step) * (right - cellX * step));
      for (let channel = 0; channel < 3; channel++) {
        const f = first.foreground[channel]!.data[cell]!;
        const b = first.background[channel]!.data[cell]!;
        let sum = 0;
        for (let y = cellY * step; y < bottom; y++) {
          for (let x = cellX * step, at = y * width + x; x < right; x++, at++) {
            sum += alpha[at]! * fuse(f, b, alpha[at]! / 255, data[at * 4 + channel]!);
          }
        }
        cells.foreground[channel]!.data[cell] = sum * weight;
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
  visible: Uint8Array,
): void {
  const { width, height, data } = image;
  const columns = interpolation(width, grid.width, grid.step);
  const rows = interpolation(height, grid.height, grid.step);
  const foreground = [
    layers.foreground[0].data,
    layers.foreground[1].data,
    layers.foreground[2].data,
  ] as const;
  const background = [
    layers.background[0].data,
    layers.background[1].data,
    layers.background[2].data,
  ] as const;
  for (let y = 0; y < height; y++) {
    const top = rows.before[y]! * grid.width;
    const bottom = rows.after[y]! * grid.width;
    const down = rows.fraction[y]!;
    for (let x = 0, at = y * width; x < width; x++, at++) {
      if (visible[at] === 0 || alpha[at] === 255) continue;
      const across = columns.fraction[x]!;
      const tl = top + columns.before[x]!;
      const tr = top + columns.after[x]!;
      const bl = bottom + columns.before[x]!;
      const br = bottom + columns.after[x]!;
      const bottomRight = down * across;
      const bottomLeft = down - bottomRight;
      const topRight = across - bottomRight;
      const topLeft = 1 - across - bottomLeft;
      const a = alpha[at]! / 255;
      for (let channel = 0; channel < 3; channel++) {
        const fs = foreground[channel]!;
        const bs = background[channel]!;
        const f = fs[tl]! * topLeft + fs[tr]! * topRight + fs[bl]! * bottomLeft + fs[br]! * bottomRight;
        const b = bs[tl]! * topLeft + bs[tr]! * topRight + bs[bl]! * bottomLeft + bs[br]! * bottomRight;
        const i = at * 4 + channel;
        data[i] = fuse(f, b, a, data[i]!) + 0.5;
      }
    }
  }
}
