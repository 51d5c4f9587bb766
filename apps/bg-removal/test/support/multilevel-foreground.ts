/**
 * Multilevel foreground estimation (Germer et al., "Fast Multi-Level Foreground Estimation",
 * ICPR 2020), implemented directly from the paper. The test oracle for the much faster
 * Blur-Fusion. Colours and alpha are 0-1.
 */
export function multilevelForeground(
  image: Float64Array,
  alpha: Float64Array,
  width: number,
  height: number,
): Float64Array {
  const regularisation = 1e-5;
  const gradientWeight = 1;
  const levels = Math.ceil(Math.log2(Math.max(width, height)));
  let foreground = new Float64Array(3);
  let background = new Float64Array(3);
  let [w, h] = [1, 1];

  const nearest = (
    source: Float64Array,
    sw: number,
    sh: number,
    tw: number,
    th: number,
    channels: number,
  ) => {
    const target = new Float64Array(tw * th * channels);
    for (let y = 0; y < th; y++) {
      for (let x = 0; x < tw; x++) {
        const from = (Math.floor((y * sh) / th) * sw + Math.floor((x * sw) / tw)) * channels;
        for (let c = 0; c < channels; c++) target[(y * tw + x) * channels + c] = source[from + c] ?? 0;
      }
    }
    return target;
  };

  for (let level = 0; level <= levels; level++) {
    const lw = Math.round(width ** (level / levels));
    const lh = Math.round(height ** (level / levels));
    const i = nearest(image, width, height, lw, lh, 3);
    const a = nearest(alpha, width, height, lw, lh, 1);
    foreground = nearest(foreground, w, h, lw, lh, 3);
    background = nearest(background, w, h, lw, lh, 3);
    [w, h] = [lw, lh];
    const iterations = Math.max(w, h) <= 32 ? 10 : 2;
    for (let iteration = 0; iteration < iterations; iteration++) {
      for (let y = 0; y < h; y++) {
        for (let x = 0; x < w; x++) {
          const p = y * w + x;
          const a0 = a[p] ?? 0;
          const a1 = 1 - a0;
          let a00 = a0 * a0;
          const a01 = a0 * a1;
          let a11 = a1 * a1;
          const bf = [0, 0, 0];
          const bb = [0, 0, 0];
          for (let c = 0; c < 3; c++) {
            bf[c] = a0 * (i[p * 3 + c] ?? 0);
            bb[c] = a1 * (i[p * 3 + c] ?? 0);
          }
          for (const [dx, dy] of [
            [-1, 0],
            [1, 0],
            [0, -1],
            [0, 1],
          ] as const) {
            const q = Math.min(Math.max(y + dy, 0), h - 1) * w + Math.min(Math.max(x + dx, 0), w - 1);
            const weight = regularisation + gradientWeight * Math.abs(a0 - (a[q] ?? 0));
            a00 += weight;
            a11 += weight;
            for (let c = 0; c < 3; c++) {
              bf[c] = (bf[c] ?? 0) + weight * (foreground[q * 3 + c] ?? 0);
              bb[c] = (bb[c] ?? 0) + weight * (background[q * 3 + c] ?? 0);
            }
          }
          const determinant = a00 * a11 - a01 * a01;
          for (let c = 0; c < 3; c++) {
            const f = (a11 * (bf[c] ?? 0) - a01 * (bb[c] ?? 0)) / determinant;
            const b = (a00 * (bb[c] ?? 0) - a01 * (bf[c] ?? 0)) / determinant;
            foreground[p * 3 + c] = Math.min(1, Math.max(0, f));
            background[p * 3 + c] = Math.min(1, Math.max(0, b));
          }
        }
      }
    }
  }
  return foreground;
}
