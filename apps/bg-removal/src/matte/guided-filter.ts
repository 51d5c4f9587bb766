import { boxFilterCells } from './box-filter.js';
import { createCells, type Cells } from './grid.js';
import type { Plane } from './plane.js';
import type { TeamMember } from './team-member.js';

export interface GuidedFilterOptions {
  /** Window radius as a share of the geometric mean of the image's sides. */
  readonly radius: number;
  /** Regularisation, in squared colour units (0-1): larger follows the image less. */
  readonly epsilon: number;
}

/** Floats of a cell: means of the guide, of alpha and of their products; three are unused. */
const moments = 16;

/**
 * The coefficients of the guided filter with a colour guide (He, Sun, Tang,
 * "Guided Image Filtering", 2013), already averaged over each window. Computed
 * on the coarse grid and applied at full resolution it is the fast guided
 * filter (He, Sun 2015).
 * @param guide colours of the cells, 0-255
 * @returns for each cell `red`, `green`, `blue` and `offset`: around it,
 *   `alpha ≈ red·R + green·G + blue·B + offset`, colours 0-1
 */
export function guidedCoefficients(
  guide: Cells,
  alpha: Plane,
  options: GuidedFilterOptions,
  team: TeamMember,
): Cells {
  const { width, height } = alpha;
  const radius = Math.max(1, Math.round(options.radius * Math.sqrt(width * height)));
  const model = createCells(alpha, team);
  const rows = team.floats(width * height * moments);
  const sums = team.bytes(width * moments * Float64Array.BYTES_PER_ELEMENT);
  team.run('momentRows', height, { colours: guide.data, alpha: alpha.data, moments: rows, width, radius });
  team.run('solveColumns', width, {
    moments: rows,
    model: model.data,
    sums,
    width,
    height,
    radius,
    epsilon: options.epsilon,
  });
  boxFilterCells(model, radius, team);
  return model;
}
