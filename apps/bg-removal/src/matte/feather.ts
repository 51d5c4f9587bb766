import type { TeamMember } from './team-member.js';

/** The 10-90 % width of a blurred hard edge is 2 × 1.2816 standard deviations of the Gaussian. */
const widthPerSigma = 2.563;
/** A narrower Gaussian changes no pixel, and its weights would underflow. */
const leastFeather = 0.1;

const tileSize = 32;
const smallestBlock = 4;
/** Minimum share of the blur for softened edges; less would leave defocused subjects rough. */
const leastShare = 0.75;
/** Edges that span less of 0-255 belong to soft areas and get the full blur. */
const fullSpan = 250;

/**
 * Softens a matte (0-255) so that a hard edge gets a 10-90 % width of `feather` pixels. An edge
 * that is already almost as wide is blurred less. A much wider edge gets the full blur, which
 * smooths its roughness and hardly changes its width. Borders are replicated.
 * @returns the same array if `feather` is almost 0, otherwise a new one
 */
export function featherMatte(
  alpha: Uint8Array,
  width: number,
  height: number,
  feather: number,
  team: TeamMember,
): Uint8Array {
  if (feather < leastFeather) return alpha;
  const sigma = feather / widthPerSigma;
  const kernel = gaussianKernel(sigma);
  const { kernels } = team;
  const result = team.bytes(alpha.length);
  const blocks = createBlocks(width, height, sigma, team);
  const tileRows = Math.ceil(height / tileSize);
  const tilesAcross = Math.ceil(width / tileSize);
  const hasEdges = team.bytes(tileRows * tilesAcross);
  const reach = kernel.length >> 1;
  const scratch = team.scratch(
    (tileSize * (tileSize + 2 * reach) + tileSize + 2 * reach + 4) * Float32Array.BYTES_PER_ELEMENT,
  );
  const weights = team.addressOf(team.place(kernel));
  const [source, target] = [team.addressOf(alpha), team.addressOf(result)];
  /** Calls `work` with the borders of all tiles in tile rows `from` to `to` that a blur changes. */
  const eachTile = (
    from: number,
    to: number,
    work: (left: number, top: number, right: number, bottom: number) => void,
  ): void => {
    for (let tile = from * tilesAcross; tile < to * tilesAcross; tile++) {
      if (hasEdges[tile] === 0) continue;
      const left = (tile % tilesAcross) * tileSize;
      const top = Math.floor(tile / tilesAcross) * tileSize;
      work(left, top, Math.min(left + tileSize, width), Math.min(top + tileSize, height));
    }
  };
  const { side, across, down, low, high, sums, sumsOfSquares, shares } = blocks;
  team.each(tileRows, (from, to) => {
    const [top, bottom] = [from * tileSize, Math.min(to * tileSize, height)];
    hasEdges.fill(1, from * tilesAcross, to * tilesAcross);
    eachTile(from, to, (left, tileTop, right, tileBottom) => {
      if (kernels.isUniform(source, width, height, reach, left, tileTop, right, tileBottom)) {
        hasEdges[(tileTop / tileSize) * tilesAcross + left / tileSize] = 0;
      }
    });
    result.set(alpha.subarray(top * width, bottom * width), top * width);
    blocks.clear(top, bottom);
    eachTile(from, to, (...tile) => {
      kernels.blurTile(source, target, width, height, ...tile, weights, reach, scratch);
      kernels.measureTile(source, width, height, ...tile, side, across, low, high, sums, sumsOfSquares);
    });
  });
  team.each(tileRows, (from, to) =>
    eachTile(from, to, (...tile) =>
      kernels.shareTile(
        ...tile,
        side,
        across,
        down,
        low,
        high,
        sums,
        sumsOfSquares,
        shares,
        sigma * sigma,
        fullSpan,
        leastShare,
      ),
    ),
  );
  team.each(tileRows, (from, to) =>
    eachTile(from, to, (...tile) =>
      kernels.mixTile(source, target, width, ...tile, side, across, down, shares),
    ),
  );
  return result;
}

/** Weights that sum to 1; each is the integral of the Gaussian over its pixel. */
function gaussianKernel(sigma: number): Float32Array {
  const radius = Math.max(1, Math.ceil(3 * sigma));
  const weights = Float32Array.from({ length: 2 * radius + 1 }, (_, i) => {
    let sum = 0;
    const steps = 16;
    for (let k = 0; k < steps; k++) {
      const x = i - radius - 0.5 + (k + 0.5) / steps;
      sum += Math.exp(-(x * x) / (2 * sigma * sigma));
    }
    return sum;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** Blocks of `side × side` pixels, row by row: addresses of arrays. */
interface Blocks {
  readonly side: number;
  readonly across: number;
  readonly down: number;
  readonly clear: (from: number, to: number) => void;
  /** The least and the greatest value. */
  readonly low: number;
  readonly high: number;
  readonly sums: number;
  readonly sumsOfSquares: number;
  /** How much of the blur each block gets, 0-1. */
  readonly shares: number;
}

function createBlocks(width: number, height: number, sigma: number, team: TeamMember): Blocks {
  let side = smallestBlock;
  while (side < 3 * sigma && side < tileSize) side *= 2;
  const across = Math.ceil(width / side);
  const down = Math.ceil(height / side);
  const [low, high] = [team.bytes(across * down), team.bytes(across * down)];
  const sums = team.floats(across * down);
  const sumsOfSquares = team.floats(across * down);
  const shares = team.floats(across * down);
  return {
    side,
    across,
    down,
    /** Makes rows of pixels ones without edges. */
    clear: (top, bottom) => {
      const [from, to] = [(top / side) * across, Math.ceil(bottom / side) * across];
      low.fill(255, from, to);
      for (const values of [high, sums, sumsOfSquares]) values.fill(0, from, to);
      shares.fill(1, from, to);
    },
    low: team.addressOf(low),
    high: team.addressOf(high),
    sums: team.addressOf(sums),
    sumsOfSquares: team.addressOf(sumsOfSquares),
    shares: team.addressOf(shares),
  };
}
