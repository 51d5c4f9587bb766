/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { alone, type Team } from './team.js';
import { isFilledWith, viewOf, type Bounds } from './uniform.js';

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
  team: Team = alone,
): Uint8Array {
  if (feather < leastFeather) return alpha;
  const sigma = feather / widthPerSigma;
  const kernel = gaussianKernel(sigma);
  const result = team.bytes(alpha.length);
  const blocks = createBlocks(width, height, sigma, team);
  const tileRows = Math.ceil(height / tileSize);
  const tilesAcross = Math.ceil(width / tileSize);
  const hasEdges = team.bytes(tileRows * tilesAcross);
  const tilesIn = (row: number): Bounds[] => {
    const tiles: Bounds[] = [];
    const top = row * tileSize;
    for (let i = 0; i < tilesAcross; i++) {
      const left = i * tileSize;
      if (hasEdges[row * tilesAcross + i] === 0) continue;
      tiles.push({
        left,
        top,
        right: Math.min(left + tileSize, width),
        bottom: Math.min(top + tileSize, height),
      });
    }
    return tiles;
  };
  team.each(tileRows, (from, to) => {
    const [top, bottom] = [from * tileSize, Math.min(to * tileSize, height)];
    findEdges(alpha, width, height, kernel.length >> 1, hasEdges, from, to);
    result.set(alpha.subarray(top * width, bottom * width), top * width);
    clearBlocks(blocks, top, bottom);
    for (let row = from; row < to; row++) {
      const tiles = tilesIn(row);
      blur(alpha, result, width, height, tiles, kernel);
      measureSlopes(alpha, width, height, tiles, blocks);
    }
  });
  team.each(tileRows, (from, to) => {
    for (let row = from; row < to; row++) setBlurShares(blocks, tilesIn(row), sigma);
  });
  team.each(tileRows, (from, to) => {
    for (let row = from; row < to; row++) mix(alpha, result, width, tilesIn(row), blocks);
  });
  return result;
}

/** Sets 1 for each tile that a blur changes: those with different pixels within reach; otherwise 0. */
function findEdges(
  alpha: Uint8Array,
  width: number,
  height: number,
  reach: number,
  hasEdges: Uint8Array,
  firstRow: number,
  lastRow: number,
): void {
  const view = viewOf(alpha);
  const across = Math.ceil(width / tileSize);
  for (let row = firstRow, tile = firstRow * across; row < lastRow; row++) {
    const top = row * tileSize;
    const bottom = Math.min(top + tileSize, height);
    for (let left = 0; left < width; left += tileSize, tile++) {
      const right = Math.min(left + tileSize, width);
      const area = {
        left: Math.max(left - reach, 0),
        top: Math.max(top - reach, 0),
        right: Math.min(right + reach, width),
        bottom: Math.min(bottom + reach, height),
      };
      const uniform = isFilledWith(view, width, area, alpha[area.top * width + area.left]!);
      hasEdges[tile] = uniform ? 0 : 1;
    }
  }
}

function blur(
  alpha: Uint8Array,
  target: Uint8Array,
  width: number,
  height: number,
  tiles: readonly Bounds[],
  kernel: Float32Array,
): void {
  const radius = kernel.length >> 1;
  const across = new Float32Array(tileSize * (tileSize + 2 * radius));
  const line = new Float32Array(tileSize + 2 * radius);
  const column = new Float32Array(tileSize);
  for (const { left, top, right, bottom } of tiles) {
    const columns = right - left;
    const rows = bottom - top;
    for (let y = 0; y < rows + 2 * radius; y++) {
      const from = Math.min(Math.max(top - radius + y, 0), height - 1) * width;
      const start = left - radius;
      if (start >= 0 && right + radius <= width) {
        for (let x = 0; x < columns + 2 * radius; x++) line[x] = alpha[from + start + x]!;
      } else {
        for (let x = 0; x < columns + 2 * radius; x++) {
          line[x] = alpha[from + Math.min(Math.max(start + x, 0), width - 1)]!;
        }
      }
      convolve(line, 0, 1, kernel, across, y * tileSize, columns);
    }
    for (let y = 0; y < rows; y++) {
      convolve(across, y * tileSize, tileSize, kernel, column, 0, columns);
      const to = (top + y) * width + left;
      for (let x = 0; x < columns; x++) target[to + x] = column[x]! + 0.5;
    }
  }
}

/**
 * Convolves `count` values of `source`, starting at `from`, with a symmetric kernel whose taps
 * are `stride` apart. The loop for the default feather's seven weights is unrolled, which takes
 * a third of the time.
 */
function convolve(
  source: Float32Array,
  from: number,
  stride: number,
  kernel: Float32Array,
  target: Float32Array,
  to: number,
  count: number,
): void {
  const size = kernel.length;
  if (size === 7) {
    const [outer, far, near, centre] = [kernel[0]!, kernel[1]!, kernel[2]!, kernel[3]!];
    const [s2, s3, s4, s5, s6] = [2 * stride, 3 * stride, 4 * stride, 5 * stride, 6 * stride];
    for (let i = from, end = from + count; i < end; i++, to++) {
      target[to] =
        centre * source[i + s3]! +
        near * (source[i + s2]! + source[i + s4]!) +
        far * (source[i + stride]! + source[i + s5]!) +
        outer * (source[i]! + source[i + s6]!);
    }
    return;
  }
  for (let i = from, end = from + count; i < end; i++, to++) {
    let sum = 0;
    for (let k = 0, at = i; k < size; k++, at += stride) sum += kernel[k]! * source[at]!;
    target[to] = sum;
  }
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

/** Blocks of `side × side` pixels, row by row. */
interface Blocks {
  readonly side: number;
  readonly across: number;
  readonly down: number;
  /** The least and the greatest value. */
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  readonly sums: Float32Array;
  readonly sumsOfSquares: Float32Array;
  /** How much of the blur each block gets, 0-1. */
  readonly shares: Float32Array;
}

function createBlocks(width: number, height: number, sigma: number, team: Team): Blocks {
  let side = smallestBlock;
  while (side < 3 * sigma && side < tileSize) side *= 2;
  const across = Math.ceil(width / side);
  const down = Math.ceil(height / side);
  return {
    side,
    across,
    down,
    low: team.bytes(across * down),
    high: team.bytes(across * down),
    sums: team.floats(across * down),
    sumsOfSquares: team.floats(across * down),
    shares: team.floats(across * down),
  };
}

function clearBlocks(
  { side, across, low, high, sums, sumsOfSquares, shares }: Blocks,
  top: number,
  bottom: number,
): void {
  const from = (top / side) * across;
  const to = Math.ceil(bottom / side) * across;
  low.fill(255, from, to);
  for (const values of [high, sums, sumsOfSquares]) values.fill(0, from, to);
  shares.fill(1, from, to);
}

function measureSlopes(
  alpha: Uint8Array,
  width: number,
  height: number,
  tiles: readonly Bounds[],
  { side, across, low, high, sums, sumsOfSquares }: Blocks,
): void {
  for (const { left, top, right, bottom } of tiles) {
    for (let y = top; y < bottom; y++) {
      const above = y > 0 ? width : 0;
      const below = y + 1 < height ? width : 0;
      for (let x = left; x < right;) {
        const block = Math.floor(y / side) * across + Math.floor(x / side);
        let [least, most, sum, sumOfSquares] = [
          low[block]!,
          high[block]!,
          sums[block]!,
          sumsOfSquares[block]!,
        ];
        for (const end = Math.min(x + side, right); x < end; x++) {
          const i = y * width + x;
          const value = alpha[i]!;
          if (value < least) least = value;
          if (value > most) most = value;
          const dx = alpha[x + 1 < width ? i + 1 : i]! - alpha[x > 0 ? i - 1 : i]!;
          const dy = alpha[i + below]! - alpha[i - above]!;
          const squared = dx * dx + dy * dy;
          if (squared === 0) continue;
          sum += Math.sqrt(squared);
          sumOfSquares += squared;
        }
        low[block] = least;
        high[block] = most;
        sums[block] = sum;
        sumsOfSquares[block] = sumOfSquares;
      }
    }
  }
}

/**
 * Sets how much of the blur each block gets, 0-1. Estimates the width of the edges in and next
 * to it. Across an edge of height `h` and variance `e` (of the Gaussian that would make it from
 * a hard one), the slopes sum to `h` and their squares to `h² / 2√(πe)`; so sums over a block
 * are robust against single steep pixels. Central differences add 1/3 to the variance.
 */
function setBlurShares(
  { side, across, down, low, high, sums, sumsOfSquares, shares }: Blocks,
  tiles: readonly Bounds[],
  sigma: number,
): void {
  for (const { left, top, right, bottom } of tiles) {
    for (let y = top / side; y < bottom / side; y++) {
      for (let x = left / side; x < right / side; x++) {
        let [least, most, sum, sumOfSquares] = [255, 0, 0, 0];
        for (let ny = Math.max(y - 1, 0); ny <= Math.min(y + 1, down - 1); ny++) {
          for (
            let n = ny * across + Math.max(x - 1, 0);
            n <= ny * across + Math.min(x + 1, across - 1);
            n++
          ) {
            if (low[n]! < least) least = low[n]!;
            if (high[n]! > most) most = high[n]!;
            sum += sums[n]!;
            sumOfSquares += sumsOfSquares[n]!;
          }
        }
        if (most - least < fullSpan) continue;
        const variance = ((most - least) * sum) ** 2 / (Math.PI * sumOfSquares ** 2) - 1 / 3;
        const ratio = variance / (sigma * sigma);
        shares[y * across + x] = Math.min(1, Math.max(1 - ratio, leastShare, ratio - 1));
      }
    }
  }
}

/** Blends a matte into its blurred copy, with shares interpolated between block centres. */
function mix(
  alpha: Uint8Array,
  blurred: Uint8Array,
  width: number,
  tiles: readonly Bounds[],
  { side, across, down, shares }: Blocks,
): void {
  for (const { left, top, right, bottom } of tiles) {
    for (let y = top; y < bottom; y++) {
      const blockY = Math.min(Math.max((y + 0.5) / side - 0.5, 0), down - 1);
      const upper = Math.floor(blockY) * across;
      const lower = Math.min(Math.floor(blockY) + 1, down - 1) * across;
      const fractionY = blockY - Math.floor(blockY);
      for (let x = left, i = y * width + left; x < right; x++, i++) {
        const difference = blurred[i]! - alpha[i]!;
        if (difference === 0) continue;
        const blockX = Math.min(Math.max((x + 0.5) / side - 0.5, 0), across - 1);
        const before = Math.floor(blockX);
        const after = Math.min(before + 1, across - 1);
        const fractionX = blockX - before;
        const above =
          shares[upper + before]! + (shares[upper + after]! - shares[upper + before]!) * fractionX;
        const below =
          shares[lower + before]! + (shares[lower + after]! - shares[lower + before]!) * fractionX;
        blurred[i] = alpha[i]! + difference * (above + (below - above) * fractionY) + 0.5;
      }
    }
  }
}
