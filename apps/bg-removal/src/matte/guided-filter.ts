/* eslint-disable @typescript-eslint/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { boxFilter } from './box-filter.js';
import { createPlane, type Plane } from './plane.js';

/** `alpha ≈ red·R + green·G + blue·B + offset` around every cell, colours 0-1. */
export interface LocalModel {
  readonly red: Plane;
  readonly green: Plane;
  readonly blue: Plane;
  readonly offset: Plane;
}

export interface GuidedFilterOptions {
  /** Window radius in cells. */
  readonly radius: number;
  /** Regularisation, in squared colour units (0-1): larger follows the image less. */
  readonly epsilon: number;
}

/**
 * The coefficients of the guided filter with a colour guide (He, Sun, Tang,
 * "Guided Image Filtering", 2013), already averaged over each window. Computed
 * on the coarse grid and applied at full resolution it is the fast guided
 * filter (He, Sun 2015).
 */
export function guidedCoefficients(
  guide: readonly [Plane, Plane, Plane],
  alpha: Plane,
  { radius, epsilon }: GuidedFilterOptions,
): LocalModel {
  const { width, height } = alpha;
  const count = width * height;
  const scratch = createPlane(width, height);
  const mean = (fill: (i: number) => number): Float32Array => {
    const plane = createPlane(width, height);
    for (let i = 0; i < count; i++) plane.data[i] = fill(i);
    boxFilter(plane, radius, scratch);
    return plane.data;
  };
  const unit = 1 / 255;
  const [r, g, b] = guide.map(({ data }) => data) as [Float32Array, Float32Array, Float32Array];
  const p = alpha.data;
  const meanR = mean((i) => r[i]! * unit);
  const meanG = mean((i) => g[i]! * unit);
  const meanB = mean((i) => b[i]! * unit);
  const meanP = mean((i) => p[i]!);
  const meanRP = mean((i) => r[i]! * unit * p[i]!);
  const meanGP = mean((i) => g[i]! * unit * p[i]!);
  const meanBP = mean((i) => b[i]! * unit * p[i]!);
  const unit2 = unit * unit;
  const meanRR = mean((i) => r[i]! * r[i]! * unit2);
  const meanRG = mean((i) => r[i]! * g[i]! * unit2);
  const meanRB = mean((i) => r[i]! * b[i]! * unit2);
  const meanGG = mean((i) => g[i]! * g[i]! * unit2);
  const meanGB = mean((i) => g[i]! * b[i]! * unit2);
  const meanBB = mean((i) => b[i]! * b[i]! * unit2);

  const model: LocalModel = {
    red: createPlane(width, height),
    green: createPlane(width, height),
    blue: createPlane(width, height),
    offset: createPlane(width, height),
  };
  for (let i = 0; i < count; i++) {
    const mr = meanR[i]!;
    const mg = meanG[i]!;
    const mb = meanB[i]!;
    const mp = meanP[i]!;
    const covR = meanRP[i]! - mr * mp;
    const covG = meanGP[i]! - mg * mp;
    const covB = meanBP[i]! - mb * mp;
    // Symmetric 3×3 covariance of the guide, inverted by its adjugate.
    const rr = meanRR[i]! - mr * mr + epsilon;
    const rg = meanRG[i]! - mr * mg;
    const rb = meanRB[i]! - mr * mb;
    const gg = meanGG[i]! - mg * mg + epsilon;
    const gb = meanGB[i]! - mg * mb;
    const bb = meanBB[i]! - mb * mb + epsilon;
    const c00 = gg * bb - gb * gb;
    const c01 = rb * gb - rg * bb;
    const c02 = rg * gb - rb * gg;
    const scale = 1 / (rr * c00 + rg * c01 + rb * c02);
    const ar = (c00 * covR + c01 * covG + c02 * covB) * scale;
    const ag = (c01 * covR + (rr * bb - rb * rb) * covG + (rg * rb - rr * gb) * covB) * scale;
    const ab = (c02 * covR + (rg * rb - rr * gb) * covG + (rr * gg - rg * rg) * covB) * scale;
    model.red.data[i] = ar;
    model.green.data[i] = ag;
    model.blue.data[i] = ab;
    model.offset.data[i] = mp - ar * mr - ag * mg - ab * mb;
  }
  for (const plane of [model.red, model.green, model.blue, model.offset]) boxFilter(plane, radius, scratch);
  return model;
}
