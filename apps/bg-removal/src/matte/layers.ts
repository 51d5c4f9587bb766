import type { RgbaImage } from '../images/rgba-image.js';
import { createCells, type Cells, type Grid } from './grid.js';
import type { TeamMember } from './team-member.js';

/** The colours, 0-255, that the image is mixed from around each grid cell. */
export interface Layers {
  /**
   * The fourth channel, 0-1, is the certainty: whether there is enough of both nearby to know their
   * colours.
   */
  readonly foreground: Cells;
  readonly background: Cells;
}

/** Window sides of the two passes for an image of one megapixel; they scale with the image's sides. */
const firstSide = 90;
const secondSide = 12;
/** Pixels count by `α^power` as foreground and by `(1−α)^power` as background; 1 is the published method. The kernels' `sixthPower` is the same. */
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
 * @param colours the cells' colours
 * @param isOpaque whether no pixel of the image is transparent
 */
export function estimateLayers(
  image: RgbaImage,
  alpha: Uint8Array,
  grid: Grid,
  colours: Cells,
  isOpaque: boolean,
  team: TeamMember,
): Layers {
  const scale = Math.sqrt(grid.width * grid.height) / 1000;
  const radius = (side: number): number => Math.max(1, Math.round((side * scale) / 2));
  const cells: Layers = { foreground: createCells(grid, team), background: createCells(grid, team) };
  const hasMixed = team.bytes(grid.width * grid.height);
  const { width, height } = image;
  const { step } = grid;
  team.run('weighCells', grid.height, {
    pixels: image.data,
    alpha,
    width,
    height,
    step,
    isOpaque,
    colours: colours.data,
    foreground: cells.foreground.data,
    background: cells.background.data,
    hasMixed,
  });
  const first = blurLayers(cells, colours, radius(firstSide), team);
  team.run('fuseCells', grid.height, {
    pixels: image.data,
    alpha,
    width,
    height,
    step,
    foreground: first.foreground.data,
    background: first.background.data,
    hasMixed,
    cellForeground: cells.foreground.data,
    cellBackground: cells.background.data,
  });
  return blurLayers(cells, colours, radius(secondSide), team);
}

/** Weighted means of the colours in the window around each cell: `F̂` and `B̂`. */
function blurLayers(
  { foreground, background }: Layers,
  colours: Cells,
  radius: number,
  team: TeamMember,
): Layers {
  const { width, height } = colours;
  const [front, behind] = [createCells(colours, team), createCells(colours, team)];
  const frontRows = createCells(colours, team).data;
  const behindRows = createCells(colours, team).data;
  const sums = team.bytes(width * 8 * Float64Array.BYTES_PER_ELEMENT);
  team.run('boxRows', height, { source: foreground.data, target: frontRows, width, radius });
  team.run('boxRows', height, { source: background.data, target: behindRows, width, radius });
  team.run('layerColumns', width, {
    frontRows,
    behindRows,
    colours: colours.data,
    foreground: front.data,
    background: behind.data,
    sums,
    width,
    height,
    radius,
    leastCoverage,
    someCoverage,
    goodCoverage,
  });
  return { foreground: front, background: behind };
}
