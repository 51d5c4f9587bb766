/** The 10-90 % width of a blurred hard edge, in standard deviations of the Gaussian. */
const widthPerSigma = 2.563;
const tileSide = 32;

/**
 * Softens a matte with a Gaussian; borders are replicated. Only tiles with an edge
 * in reach are worked on: the others would come out as they are.
 * @param pixels 10-90 % width of a hard edge; 0 changes nothing
 * @returns a new matte, or the same one for 0
 */
export function feather(alpha, width, height, pixels) {
  if (pixels <= 0) return alpha;
  const kernel = gaussian(pixels / widthPerSigma);
  const soft = alpha.slice();
  const rows = new Float32Array(tileSide * (tileSide + kernel.length - 1));
  for (let top = 0; top < height; top += tileSide) {
    for (let left = 0; left < width; left += tileSide) {
      const tile = {
        left,
        top,
        right: Math.min(left + tileSide, width),
        bottom: Math.min(top + tileSide, height),
      };
      if (!isUniform(alpha, width, height, tile, kernel.length >> 1)) {
        blurTile(alpha, soft, width, height, tile, kernel, rows);
      }
    }
  }
  return soft;
}

/** Weights of the pixels around, each the integral of the Gaussian over the pixel. */
function gaussian(sigma) {
  const radius = Math.max(1, Math.ceil(3 * sigma));
  const parts = 16;
  const weights = Float32Array.from({ length: 2 * radius + 1 }, (_, index) => {
    let sum = 0;
    for (let part = 0; part < parts; part++) {
      const x = index - radius - 0.5 + (part + 0.5) / parts;
      sum += Math.exp(-(x * x) / (2 * sigma * sigma));
    }
    return sum;
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

function isUniform(alpha, width, height, { left, top, right, bottom }, reach) {
  const [fromX, toX] = [Math.max(left - reach, 0), Math.min(right + reach, width)];
  const [fromY, toY] = [Math.max(top - reach, 0), Math.min(bottom + reach, height)];
  const first = alpha[fromY * width + fromX];
  for (let y = fromY; y < toY; y++) {
    for (let at = y * width + fromX; at < y * width + toX; at++) if (alpha[at] !== first) return false;
  }
  return true;
}

/** Across into `rows`, then down into `soft`. */
function blurTile(alpha, soft, width, height, { left, top, right, bottom }, kernel, rows) {
  const size = kernel.length;
  const reach = size >> 1;
  const columns = right - left;
  const inside = (value, end) => Math.min(Math.max(value, 0), end - 1);
  for (let y = top - reach, row = 0; y < bottom + reach; y++, row += tileSide) {
    const line = inside(y, height) * width;
    const isInside = left >= reach && right + reach <= width;
    for (let x = 0; x < columns; x++) {
      const start = left + x - reach;
      let sum = 0;
      if (isInside) for (let k = 0; k < size; k++) sum += kernel[k] * alpha[line + start + k];
      else for (let k = 0; k < size; k++) sum += kernel[k] * alpha[line + inside(start + k, width)];
      rows[row + x] = sum;
    }
  }
  for (let y = top; y < bottom; y++) {
    for (let x = 0; x < columns; x++) {
      let sum = 0.5;
      let at = (y - top) * tileSide + x;
      for (let k = 0; k < size; k++, at += tileSide) sum += kernel[k] * rows[at];
      soft[y * width + left + x] = sum;
    }
  }
}
