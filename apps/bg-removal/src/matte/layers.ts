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
  const pixels = team.addressOf(image.data);
  const matte = team.addressOf(alpha);
  const hasMixed = team.addressOf(team.bytes(grid.width * grid.height));
  const own = team.addressOf(colours.data);
  const front = team.addressOf(cells.foreground.data);
  const behind = team.addressOf(cells.background.data);
  const { width, height } = image;
  const { step } = grid;
  const { kernels } = team;
  team.each(grid.height, (from, to) =>
    kernels.weighCells({
      pixels,
      alpha: matte,
      width,
      height,
      step,
      isOpaque,
      colours: own,
      foreground: front,
      background: behind,
      hasMixed,
      firstRow: from,
      lastRow: to,
    }),
  );
  const first = blurLayers(cells, colours, radius(firstSide), team);
  const firstFront = team.addressOf(first.foreground.data);
  const firstBehind = team.addressOf(first.background.data);
  team.each(grid.height, (from, to) =>
    kernels.fuseCells({
      pixels,
      alpha: matte,
      width,
      height,
      step,
      foreground: firstFront,
      background: firstBehind,
      hasMixed,
      cellForeground: front,
      cellBackground: behind,
      firstRow: from,
      lastRow: to,
    }),
  );
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
  const frontRows = team.addressOf(createCells(colours, team).data);
  const behindRows = team.addressOf(createCells(colours, team).data);
  const sums = team.addressOf(team.bytes(width * 8 * Float64Array.BYTES_PER_ELEMENT));
  const { kernels } = team;
  team.each(height, (from, to) => {
    kernels.boxRows({
      source: team.addressOf(foreground.data),
      target: frontRows,
      width,
      radius,
      top: from,
      bottom: to,
    });
    kernels.boxRows({
      source: team.addressOf(background.data),
      target: behindRows,
      width,
      radius,
      top: from,
      bottom: to,
    });
  });
  team.each(width, (from, to) =>
    kernels.layerColumns({
      frontRows,
      behindRows,
      colours: team.addressOf(colours.data),
      foreground: team.addressOf(front.data),
      background: team.addressOf(behind.data),
      sums,
      width,
      height,
      radius,
      leastCoverage,
      someCoverage,
      goodCoverage,
      left: from,
      right: to,
    }),
  );
  return { foreground: front, background: behind };
}
