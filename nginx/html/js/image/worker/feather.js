/**
 * The service's feather for the page, which can't run its WebAssembly: it needs memory that threads
 * share. A test of bg-removal compares both (src/kernels/feather.ts).
 */

/** @typedef {import('./cut-out-worker.js').Area} Area */
/** @typedef {ReturnType<typeof createBlocks>} Blocks squares of pixels, with what a blur must know of each */

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
 * @param {Uint8Array} alpha @param {number} width @param {number} height @param {number} feather
 * @returns the same array if `feather` is almost 0, otherwise a new one
 */
export function featherMatte(alpha, width, height, feather) {
  if (feather < leastFeather) return alpha;
  const sigma = feather / widthPerSigma;
  const kernel = gaussianKernel(sigma);
  const result = alpha.slice();
  const blocks = createBlocks(width, height, sigma);
  const tiles = tilesWithEdges(alpha, width, height, kernel.length >> 1);
  blur(alpha, result, width, height, tiles, kernel);
  measureSlopes(alpha, width, height, tiles, blocks);
  setBlurShares(blocks, tiles, sigma);
  mix(alpha, result, width, tiles, blocks);
  return result;
}

/**
 * Returns the tiles that a blur changes: those with different pixels within reach.
 * @param {Uint8Array} alpha @param {number} width @param {number} height @param {number} reach
 */
function tilesWithEdges(alpha, width, height, reach) {
  /** @type {Area[]} */
  const tiles = [];
  for (let top = 0; top < height; top += tileSize) {
    const bottom = Math.min(top + tileSize, height);
    for (let left = 0; left < width; left += tileSize) {
      const right = Math.min(left + tileSize, width);
      const area = {
        left: Math.max(left - reach, 0),
        top: Math.max(top - reach, 0),
        right: Math.min(right + reach, width),
        bottom: Math.min(bottom + reach, height),
      };
      if (!isUniform(alpha, width, area)) tiles.push({ left, top, right, bottom });
    }
  }
  return tiles;
}

/**
 * Whether an area of a matte has only one value.
 * @param {Uint8Array} matte @param {number} width @param {Area} area
 */
function isUniform(matte, width, area) {
  const value = matte[area.top * width + area.left];
  for (let y = area.top; y < area.bottom; y++) {
    for (let at = y * width + area.left; at < y * width + area.right; at++) {
      if (matte[at] !== value) return false;
    }
  }
  return true;
}

/**
 * @param {Uint8Array} alpha @param {Uint8Array} target @param {number} width @param {number} height
 * @param {Area[]} tiles @param {Float32Array} kernel
 */
function blur(alpha, target, width, height, tiles, kernel) {
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
        for (let x = 0; x < columns + 2 * radius; x++) line[x] = alpha[from + start + x];
      } else {
        for (let x = 0; x < columns + 2 * radius; x++) {
          line[x] = alpha[from + Math.min(Math.max(start + x, 0), width - 1)];
        }
      }
      convolve(line, 0, 1, kernel, across, y * tileSize, columns);
    }
    for (let y = 0; y < rows; y++) {
      convolve(across, y * tileSize, tileSize, kernel, column, 0, columns);
      const to = (top + y) * width + left;
      for (let x = 0; x < columns; x++) target[to + x] = column[x] + 0.5;
    }
  }
}

/**
 * Convolves `count` values of `source`, starting at `from`, with a symmetric kernel whose taps
 * are `stride` apart.
 * @param {Float32Array} source @param {number} from @param {number} stride @param {Float32Array} kernel
 * @param {Float32Array} target @param {number} to @param {number} count
 */
function convolve(source, from, stride, kernel, target, to, count) {
  for (let i = from, end = from + count; i < end; i++, to++) {
    let sum = 0;
    for (let k = 0, at = i; k < kernel.length; k++, at += stride) sum += kernel[k] * source[at];
    target[to] = sum;
  }
}

/**
 * Weights that sum to 1; each is the integral of the Gaussian over its pixel.
 * @param {number} sigma
 */
function gaussianKernel(sigma) {
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

/** @param {number} width @param {number} height @param {number} sigma */
function createBlocks(width, height, sigma) {
  let side = smallestBlock;
  while (side < 3 * sigma && side < tileSize) side *= 2;
  const across = Math.ceil(width / side);
  const down = Math.ceil(height / side);
  const count = across * down;
  return {
    side,
    across,
    down,
    low: new Uint8Array(count).fill(255),
    high: new Uint8Array(count),
    sums: new Float32Array(count),
    sumsOfSquares: new Float32Array(count),
    shares: new Float32Array(count).fill(1),
  };
}

/**
 * @param {Uint8Array} alpha @param {number} width @param {number} height @param {Area[]} tiles
 * @param {Blocks} blocks
 */
function measureSlopes(alpha, width, height, tiles, { side, across, low, high, sums, sumsOfSquares }) {
  for (const { left, top, right, bottom } of tiles) {
    for (let y = top; y < bottom; y++) {
      const above = y > 0 ? width : 0;
      const below = y + 1 < height ? width : 0;
      for (let x = left; x < right;) {
        const block = Math.floor(y / side) * across + Math.floor(x / side);
        let [least, most, sum, sumOfSquares] = [low[block], high[block], sums[block], sumsOfSquares[block]];
        for (const end = Math.min(x + side, right); x < end; x++) {
          const i = y * width + x;
          const value = alpha[i];
          if (value < least) least = value;
          if (value > most) most = value;
          const dx = alpha[x + 1 < width ? i + 1 : i] - alpha[x > 0 ? i - 1 : i];
          const dy = alpha[i + below] - alpha[i - above];
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
 * @param {Blocks} blocks @param {Area[]} tiles @param {number} sigma
 */
function setBlurShares({ side, across, down, low, high, sums, sumsOfSquares, shares }, tiles, sigma) {
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
            if (low[n] < least) least = low[n];
            if (high[n] > most) most = high[n];
            sum += sums[n];
            sumOfSquares += sumsOfSquares[n];
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

/**
 * Blends a matte into its blurred copy, with shares interpolated between block centres.
 * @param {Uint8Array} alpha @param {Uint8Array} blurred @param {number} width @param {Area[]} tiles
 * @param {Blocks} blocks
 */
function mix(alpha, blurred, width, tiles, { side, across, down, shares }) {
  for (const { left, top, right, bottom } of tiles) {
    for (let y = top; y < bottom; y++) {
      const blockY = Math.min(Math.max((y + 0.5) / side - 0.5, 0), down - 1);
      const upper = Math.floor(blockY) * across;
      const lower = Math.min(Math.floor(blockY) + 1, down - 1) * across;
      const fractionY = blockY - Math.floor(blockY);
      for (let x = left, i = y * width + left; x < right; x++, i++) {
        const difference = blurred[i] - alpha[i];
        if (difference === 0) continue;
        const blockX = Math.min(Math.max((x + 0.5) / side - 0.5, 0), across - 1);
        const before = Math.floor(blockX);
        const after = Math.min(before + 1, across - 1);
        const fractionX = blockX - before;
        const above = shares[upper + before] + (shares[upper + after] - shares[upper + before]) * fractionX;
        const below = shares[lower + before] + (shares[lower + after] - shares[lower + before]) * fractionX;
        blurred[i] = alpha[i] + difference * (above + (below - above) * fractionY) + 0.5;
      }
    }
  }
}
