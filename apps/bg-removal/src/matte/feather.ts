import type { TeamMember } from './team-member.js';

/** The 10-90 % width of a blurred hard edge is 2 × 1.2816 standard deviations of the Gaussian. */
const widthPerSigma = 2.563;
/** A narrower Gaussian changes no pixel, and its weights would underflow. */
const leastFeather = 0.1;

/** As in the kernel. */
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
  const kernel = team.place(gaussianKernel(sigma));
  const result = team.bytes(alpha.length);
  let side = smallestBlock;
  while (side < 3 * sigma && side < tileSize) side *= 2;
  const blocks = Math.ceil(width / side) * Math.ceil(height / side);
  const low = team.bytes(blocks);
  const high = team.bytes(blocks);
  const sums = team.floats(blocks);
  const sumsOfSquares = team.floats(blocks);
  const shares = team.floats(blocks);
  const tileRows = Math.ceil(height / tileSize);
  const hasEdges = team.bytes(tileRows * Math.ceil(width / tileSize));
  const reach = kernel.length >> 1;
  const scratch = team.scratch(
    (tileSize * (tileSize + 2 * reach) + tileSize + 2 * reach + 4) * Float32Array.BYTES_PER_ELEMENT,
  );
  team.run('blurTiles', tileRows, {
    alpha,
    target: result,
    width,
    height,
    kernel,
    radius: reach,
    scratch,
    side,
    low,
    high,
    sums,
    sumsOfSquares,
    shares,
    hasEdges,
  });
  team.run('shareTiles', tileRows, {
    width,
    height,
    side,
    low,
    high,
    sums,
    sumsOfSquares,
    shares,
    hasEdges,
    variance: sigma * sigma,
    fullSpan,
    leastShare,
  });
  team.run('mixTiles', tileRows, { alpha, blurred: result, width, height, side, shares, hasEdges });
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
