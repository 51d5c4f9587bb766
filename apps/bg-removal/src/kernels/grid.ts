/** Mean channels, 0-255, of the cells of rows `top` to `bottom`. */
export function cellColours(
  pixels: usize,
  width: i32,
  height: i32,
  step: i32,
  cells: usize,
  top: i32,
  bottom: i32,
): void {
  const gridWidth = (width + step - 1) / step;
  let to = cells + ((<usize>(top * gridWidth)) << 4);
  for (let cellY = top; cellY < bottom; cellY++) {
    const lastRow = min(height, (cellY + 1) * step);
    for (let x = 0; x < width; x += step, to += 16) {
      const columns = min(step, width - x);
      let sums = i32x4.splat(0);
      for (let y = cellY * step; y < lastRow; y++) {
        let at = pixels + ((<usize>(y * width + x)) << 2);
        // Two pixels at once. A row of a cell is short enough for sums of 16 bits.
        let row = i16x8.splat(0);
        let left = columns;
        for (; left >= 2; left -= 2, at += 8) {
          row = i16x8.add(row, i16x8.extend_low_i8x16_u(v128.load64_zero(at)));
        }
        if (left > 0) row = i16x8.add(row, i16x8.extend_low_i8x16_u(v128.load32_zero(at)));
        sums = i32x4.add(sums, i32x4.add(i32x4.extend_low_i16x8_u(row), i32x4.extend_high_i16x8_u(row)));
      }
      const count = columns * (lastRow - cellY * step);
      const share = f32x4.splat(<f32>1 / <f32>count);
      v128.store(to, f32x4.mul(f32x4.convert_i32x4_u(sums), share));
    }
  }
}
