import { floatsAt, integersAt, mixed, storeBytes } from './vectors';

/** Pixels per side of a tile; the last ones may have less. */
const tileSize = 32;

/**
 * The first step of a feather, for tiles of rows `from` to `to`: finds those that a blur changes,
 * blurs them, and measures the slopes of their blocks of `side × side` pixels. The other tiles are
 * copied.
 * @param kernel `2 × radius + 1` floats, symmetric
 * @param scratch memory for `32 × (32 + 2 × radius)` floats, then `36 + 2 × radius`
 * @param side of a block in pixels: 4, 8, 16 or 32
 * @param low the least value of each block, and `high` the greatest
 * @param sums of the slopes, and `sumsOfSquares`
 * @param shares how much of the blur each block gets: set to 1
 * @param hasEdges one byte for each tile
 */
export function blurTiles(
  alpha: usize,
  target: usize,
  width: i32,
  height: i32,
  kernel: usize,
  radius: i32,
  scratch: usize,
  side: i32,
  low: usize,
  high: usize,
  sums: usize,
  sumsOfSquares: usize,
  shares: usize,
  hasEdges: usize,
  from: i32,
  to: i32,
): void {
  const across = (width + side - 1) / side;
  let tile = hasEdges + <usize>(from * tilesAcross(width));
  for (let row = from; row < to; row++) {
    const top = row * tileSize;
    const bottom = min(top + tileSize, height);
    memory.copy(target + <usize>(top * width), alpha + <usize>(top * width), (bottom - top) * width);
    const first = <usize>((top / side) * across);
    const count = <usize>(((bottom + side - 1) / side) * across) - first;
    memory.fill(low + first, 255, count);
    memory.fill(high + first, 0, count);
    memory.fill(sums + (first << 2), 0, count << 2);
    memory.fill(sumsOfSquares + (first << 2), 0, count << 2);
    for (let block = first; block < first + count; block++) store<f32>(shares + (block << 2), 1);
    for (let left = 0; left < width; left += tileSize, tile++) {
      const right = min(left + tileSize, width);
      const isEdge = !isUniform(alpha, width, height, radius, left, top, right, bottom);
      store<u8>(tile, isEdge ? 1 : 0);
      if (!isEdge) continue;
      blurTile(alpha, target, width, height, left, top, right, bottom, kernel, radius, scratch);
      measureTile(
        alpha,
        width,
        height,
        left,
        top,
        right,
        bottom,
        side,
        across,
        low,
        high,
        sums,
        sumsOfSquares,
      );
    }
  }
}

/**
 * The second step: sets how much of the blur each block gets, 0-1, by the width of the edges in and
 * next to it. Across an edge of height `h` and variance `e` (of the Gaussian that would make it from
 * a hard one), the slopes sum to `h` and their squares to `h² / 2√(πe)`; so sums over a block
 * are robust against single steep pixels. Central differences add 1/3 to the variance.
 * @param variance of the blur's Gaussian
 * @param fullSpan edges that span less of 0-255 get the full blur
 * @param leastShare of the blur for softened edges
 */
export function shareTiles(
  width: i32,
  height: i32,
  side: i32,
  low: usize,
  high: usize,
  sums: usize,
  sumsOfSquares: usize,
  shares: usize,
  hasEdges: usize,
  variance: f64,
  fullSpan: i32,
  leastShare: f64,
  from: i32,
  to: i32,
): void {
  const across = (width + side - 1) / side;
  const down = (height + side - 1) / side;
  const bottom = min(to * tileSize, height);
  for (let y = (from * tileSize) / side; y * side < bottom; y++) {
    const tiles = hasEdges + <usize>(((y * side) / tileSize) * tilesAcross(width));
    for (let x = 0; x < across; x++) {
      if (load<u8>(tiles + <usize>((x * side) / tileSize)) === 0) continue;
      let least = 255;
      let most = 0;
      let sum: f64 = 0;
      let sumOfSquares: f64 = 0;
      for (let near = max(y - 1, 0); near <= min(y + 1, down - 1); near++) {
        const end = near * across + min(x + 1, across - 1);
        for (let block = near * across + max(x - 1, 0); block <= end; block++) {
          least = min(least, <i32>load<u8>(low + <usize>block));
          most = max(most, <i32>load<u8>(high + <usize>block));
          sum += <f64>load<f32>(sums + ((<usize>block) << 2));
          sumOfSquares += <f64>load<f32>(sumsOfSquares + ((<usize>block) << 2));
        }
      }
      if (most - least < fullSpan) continue;
      const product = <f64>(most - least) * sum;
      const edge = (product * product) / (Math.PI * sumOfSquares * sumOfSquares) - <f64>1 / 3;
      const ratio = edge / variance;
      const share = min<f64>(1, max(max(1 - ratio, leastShare), ratio - 1));
      store<f32>(shares + ((<usize>(y * across + x)) << 2), <f32>share);
    }
  }
}

/** The third step: blends the matte into its blurred copy, with shares interpolated between block centres. */
export function mixTiles(
  alpha: usize,
  blurred: usize,
  width: i32,
  height: i32,
  side: i32,
  shares: usize,
  hasEdges: usize,
  from: i32,
  to: i32,
): void {
  const across = (width + side - 1) / side;
  const down = (height + side - 1) / side;
  let tile = hasEdges + <usize>(from * tilesAcross(width));
  for (let top = from * tileSize; top < min(to * tileSize, height); top += tileSize) {
    const bottom = min(top + tileSize, height);
    for (let left = 0; left < width; left += tileSize, tile++) {
      if (load<u8>(tile) === 0) continue;
      const right = min(left + tileSize, width);
      mixTile(alpha, blurred, width, left, top, right, bottom, side, across, down, shares);
    }
  }
}

function tilesAcross(width: i32): i32 {
  return (width + tileSize - 1) / tileSize;
}

/** Whether all values within `reach` of an area are the same. */
function isUniform(
  alpha: usize,
  width: i32,
  height: i32,
  reach: i32,
  left: i32,
  top: i32,
  right: i32,
  bottom: i32,
): bool {
  const first = max(left - reach, 0);
  const count = <usize>(min(right + reach, width) - first);
  const last = min(bottom + reach, height);
  let y = max(top - reach, 0);
  const value = load<u8>(alpha + <usize>(y * width + first));
  const all = i8x16.splat(value);
  for (; y < last; y++) {
    let at = alpha + <usize>(y * width + first);
    const end = at + count;
    for (; at + 16 <= end; at += 16) {
      if (v128.any_true(v128.xor(v128.load(at), all))) return false;
    }
    for (; at < end; at++) if (load<u8>(at) !== value) return false;
  }
  return true;
}

/** Convolves a tile with a symmetric kernel; borders are replicated. */
function blurTile(
  alpha: usize,
  target: usize,
  width: i32,
  height: i32,
  left: i32,
  top: i32,
  right: i32,
  bottom: i32,
  kernel: usize,
  radius: i32,
  scratch: usize,
): void {
  const columns = right - left;
  const reads = columns + 2 * radius;
  const rows = bottom - top + 2 * radius;
  const stride = tileSize << 2;
  const line = scratch + <usize>(tileSize + 2 * radius) * stride;
  const start = left - radius;
  const isInside = start >= 0 && start + reads + 3 < width;
  for (let y = 0; y < rows; y++) {
    const row = alpha + <usize>(min(max(top - radius + y, 0), height - 1) * width);
    if (isInside) {
      for (let x = 0; x < reads; x += 4) {
        v128.store(line + ((<usize>x) << 2), floatsAt(row + <usize>(start + x)));
      }
    } else {
      for (let x = 0; x < reads; x++) {
        const value = load<u8>(row + <usize>min(max(start + x, 0), width - 1));
        store<f32>(line + ((<usize>x) << 2), <f32>value);
      }
    }
    const to = scratch + <usize>y * stride;
    for (let at: usize = 0; at < (<usize>columns) << 2; at += 16) {
      v128.store(to + at, convolved(line + at, 4, kernel, radius));
    }
  }
  for (let y = top; y < bottom; y++) {
    const from = scratch + <usize>(y - top) * stride;
    for (let x = 0; x < columns; x += 4) {
      const sum = convolved(from + ((<usize>x) << 2), stride, kernel, radius);
      storeBytes(target + <usize>(y * width + left + x), sum, columns - x);
    }
  }
}

/** Four values of a convolution, whose taps are `stride` bytes apart from `from` on. */
function convolved(from: usize, stride: usize, kernel: usize, radius: i32): v128 {
  let before = from;
  let after = from + <usize>(2 * radius) * stride;
  let sum = f32x4.splat(0);
  for (; before < after; before += stride, after -= stride, kernel += 4) {
    const pair = f32x4.add(v128.load(before), v128.load(after));
    sum = f32x4.add(sum, f32x4.mul(pair, v128.load32_splat(kernel)));
  }
  return f32x4.add(sum, f32x4.mul(v128.load(before), v128.load32_splat(kernel)));
}

/** For each block of a tile: the least and the greatest value, the sum of the slopes, and of their squares. */
function measureTile(
  alpha: usize,
  width: i32,
  height: i32,
  left: i32,
  top: i32,
  right: i32,
  bottom: i32,
  side: i32,
  across: i32,
  low: usize,
  high: usize,
  sums: usize,
  sumsOfSquares: usize,
): void {
  for (let blockTop = top; blockTop < bottom; blockTop += side) {
    for (let blockLeft = left; blockLeft < right; blockLeft += side) {
      const block = <usize>((blockTop / side) * across + blockLeft / side);
      const blockRight = min(blockLeft + side, right);
      let lows = i32x4.splat(255);
      let highs = i32x4.splat(0);
      let sums4 = f32x4.splat(0);
      let squares4 = f32x4.splat(0);
      let least = 255;
      let most = 0;
      let sum: f32 = 0;
      let sumOfSquares: f32 = 0;
      for (let y = blockTop; y < min(blockTop + side, bottom); y++) {
        const above = y > 0 ? <usize>width : 0;
        const below = y + 1 < height ? <usize>width : 0;
        let x = blockLeft;
        while (x < blockRight) {
          const at = alpha + <usize>(y * width + x);
          if (x > 0 && x + 4 < width) {
            const values = integersAt(at);
            lows = i32x4.min_u(lows, values);
            highs = i32x4.max_u(highs, values);
            const dx = i32x4.sub(integersAt(at + 1), integersAt(at - 1));
            const dy = i32x4.sub(integersAt(at + below), integersAt(at - above));
            const squared = f32x4.convert_i32x4_s(i32x4.add(i32x4.mul(dx, dx), i32x4.mul(dy, dy)));
            sums4 = f32x4.add(sums4, f32x4.sqrt(squared));
            squares4 = f32x4.add(squares4, squared);
            x += 4;
            continue;
          }
          const value = <i32>load<u8>(at);
          least = min(least, value);
          most = max(most, value);
          const dx = <i32>load<u8>(x + 1 < width ? at + 1 : at) - <i32>load<u8>(x > 0 ? at - 1 : at);
          const dy = <i32>load<u8>(at + below) - <i32>load<u8>(at - above);
          const squared = <f32>(dx * dx + dy * dy);
          sum += sqrt<f32>(squared);
          sumOfSquares += squared;
          x++;
        }
      }
      const lowest = i32x4.min_u(lows, v128.shuffle<i32>(lows, lows, 2, 3, 0, 1));
      const highest = i32x4.max_u(highs, v128.shuffle<i32>(highs, highs, 2, 3, 0, 1));
      least = min(least, min(i32x4.extract_lane(lowest, 0), i32x4.extract_lane(lowest, 1)));
      most = max(most, max(i32x4.extract_lane(highest, 0), i32x4.extract_lane(highest, 1)));
      store<u8>(low + block, <u8>least);
      store<u8>(high + block, <u8>most);
      store<f32>(sums + (block << 2), sum + sumOfFour(sums4));
      store<f32>(sumsOfSquares + (block << 2), sumOfSquares + sumOfFour(squares4));
    }
  }
}

function sumOfFour(values: v128): f32 {
  const pairs = f32x4.add(values, v128.shuffle<f32>(values, values, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

function mixTile(
  alpha: usize,
  blurred: usize,
  width: i32,
  left: i32,
  top: i32,
  right: i32,
  bottom: i32,
  side: i32,
  across: i32,
  down: i32,
  shares: usize,
): void {
  const step: f32 = <f32>1 / <f32>side;
  const half = side / 2;
  const lanes = f32x4.mul(f32x4(0, 1, 2, 3), f32x4.splat(step));
  for (let y = top; y < bottom; y++) {
    const blockY = min<f32>(max<f32>((<f32>y + 0.5) * step - 0.5, 0), <f32>(down - 1));
    const above = <i32>blockY;
    const share = blockY - <f32>above;
    const upper = shares + ((<usize>(above * across)) << 2);
    const lower = shares + ((<usize>(min(above + 1, down - 1) * across)) << 2);
    if (
      right - left === tileSize &&
      isSame(alpha + <usize>(y * width + left), blurred + <usize>(y * width + left))
    ) {
      continue;
    }
    for (let x = left; x < right;) {
      // Pixels between the same two block centres.
      const block = (x + half) / side - 1;
      const end = min(right, (block + 1) * side + half);
      const before = (<usize>max(block, 0)) << 2;
      const after = (<usize>min(block + 1, across - 1)) << 2;
      const first = mix(load<f32>(upper + before), load<f32>(lower + before), share);
      const last = mix(load<f32>(upper + after), load<f32>(lower + after), share);
      let fraction: f32 = (<f32>(x - block * side) + 0.5) * step - 0.5;
      for (; x < end; x += 4, fraction += 4 * step) {
        const at = <usize>(y * width + x);
        const across4 = f32x4.add(f32x4.splat(fraction), lanes);
        const weight = mixed(f32x4.splat(first), f32x4.splat(last), across4);
        const values = mixed(floatsAt(alpha + at), floatsAt(blurred + at), weight);
        storeBytes(blurred + at, values, end - x);
      }
      x = end;
    }
  }
}

function mix(from: f32, to: f32, share: f32): f32 {
  return from + (to - from) * share;
}

/** Whether both have the same 32 bytes. */
function isSame(a: usize, b: usize): bool {
  const first = v128.xor(v128.load(a), v128.load(b));
  const last = v128.xor(v128.load(a, 16), v128.load(b, 16));
  return !v128.any_true(v128.or(first, last));
}
