/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilterAll } from './box-filter.js';
import type { Planes } from './grid.js';
import { createPlane, type Plane } from './plane.js';
import { alone, type Team } from './team.js';

/** `alpha ≈ red·R + green·G + blue·B + offset` around every cell, colours 0-1. */
export interface LocalModel {
  readonly red: Plane;
  readonly green: Plane;
  readonly blue: Plane;
  readonly offset: Plane;
}

export interface GuidedFilterOptions {
  /** Window radius as a share of the geometric mean of the image's sides. */
  readonly radius: number;
  /** Regularisation, in squared colour units (0-1): larger follows the image less. */
  readonly epsilon: number;
}

/**
 * The coefficients of the guided filter with a colour guide (He, Sun, Tang,
 * "Guided Image Filtering", 2013), already averaged over each window. Computed
 * on the coarse grid and applied at full resolution it is the fast guided
 * filter (He, Sun 2015).
 * @param guide colours of the cells, 0-255
 */
export function guidedCoefficients(
  guide: Planes,
  alpha: Plane,
  options: GuidedFilterOptions,
  team: Team = alone,
): LocalModel {
  const { width, height } = alpha;
  const radius = Math.max(1, Math.round(options.radius * Math.sqrt(width * height)));
  const moments = windowMoments(guide, alpha, radius, team);
  const model: LocalModel = {
    red: createPlane(width, height, team),
    green: createPlane(width, height, team),
    blue: createPlane(width, height, team),
    offset: createPlane(width, height, team),
  };
  team.each(alpha.data.length, (from, to) => solve(moments, options.epsilon, model, from, to));
  boxFilterAll([model.red, model.green, model.blue, model.offset], radius, team);
  return model;
}

/** Window means of the guide, of alpha, and of their products. */
type Moments = Record<
  'r' | 'g' | 'b' | 'p' | 'rp' | 'gp' | 'bp' | 'rr' | 'rg' | 'rb' | 'gg' | 'gb' | 'bb',
  Float32Array
>;

function windowMoments(guide: Planes, alpha: Plane, radius: number, team: Team): Moments {
  const { width, height } = alpha;
  const planes = Array.from({ length: 13 }, () => createPlane(width, height, team));
  const [r, g, b, p, rp, gp, bp, rr, rg, rb, gg, gb, bb] = planes.map(({ data }) => data) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const moments = { r, g, b, p, rp, gp, bp, rr, rg, rb, gg, gb, bb };
  team.each(alpha.data.length, (from, to) => multiply(guide, alpha.data, moments, from, to));
  boxFilterAll(planes, radius, team);
  return moments;
}

/** The guide, alpha and their products, of cells `from` to `to`. */
function multiply(guide: Planes, values: Float32Array, moments: Moments, from: number, to: number): void {
  const { r, g, b, p, rp, gp, bp, rr, rg, rb, gg, gb, bb } = moments;
  const [guideRed, guideGreen, guideBlue] = [guide[0].data, guide[1].data, guide[2].data];
  const unit = 1 / 255;
  for (let i = from; i < to; i++) {
    const red = guideRed[i]! * unit;
    const green = guideGreen[i]! * unit;
    const blue = guideBlue[i]! * unit;
    const value = values[i]!;
    r[i] = red;
    g[i] = green;
    b[i] = blue;
    p[i] = value;
    rp[i] = red * value;
    gp[i] = green * value;
    bp[i] = blue * value;
    rr[i] = red * red;
    rg[i] = red * green;
    rb[i] = red * blue;
    gg[i] = green * green;
    gb[i] = green * blue;
    bb[i] = blue * blue;
  }
}

/** Linear regression of alpha on colour in every window: a symmetric 3×3 system, solved by its adjugate. */
function solve(m: Moments, epsilon: number, model: LocalModel, from: number, to: number): void {
  const [reds, greens, blues, offsets] = [
    model.red.data,
    model.green.data,
    model.blue.data,
    model.offset.data,
  ];
  for (let i = from; i < to; i++) {
    const r = m.r[i]!;
    const g = m.g[i]!;
    const b = m.b[i]!;
    const p = m.p[i]!;
    const covR = m.rp[i]! - r * p;
    const covG = m.gp[i]! - g * p;
    const covB = m.bp[i]! - b * p;
    const rr = m.rr[i]! - r * r + epsilon;
    const rg = m.rg[i]! - r * g;
    const rb = m.rb[i]! - r * b;
    const gg = m.gg[i]! - g * g + epsilon;
    const gb = m.gb[i]! - g * b;
    const bb = m.bb[i]! - b * b + epsilon;
    const c00 = gg * bb - gb * gb;
    const c01 = rb * gb - rg * bb;
    const c02 = rg * gb - rb * gg;
    const c12 = rg * rb - rr * gb;
    const scale = 1 / (rr * c00 + rg * c01 + rb * c02);
    const red = (c00 * covR + c01 * covG + c02 * covB) * scale;
    const green = (c01 * covR + (rr * bb - rb * rb) * covG + c12 * covB) * scale;
    const blue = (c02 * covR + c12 * covG + (rr * gg - rg * rg) * covB) * scale;
    reds[i] = red;
    greens[i] = green;
    blues[i] = blue;
    offsets[i] = p - red * r - green * g - blue * b;
  }
}
