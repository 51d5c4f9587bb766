/** For each pixel: the samples before and after its centre, and its fractional position between them. */
export interface Interpolation {
  readonly before: Int32Array;
  /** The same as `before` at the border. */
  readonly after: Int32Array;
  readonly fraction: Float32Array;
}

/**
 * Linear interpolation of `samples` samples at the centres of `pixels` pixels. A sample is
 * `pixelsPerSample` pixels wide and has its value at its centre.
 */
export function interpolation(pixels: number, samples: number, pixelsPerSample: number): Interpolation {
  const before = new Int32Array(pixels);
  const after = new Int32Array(pixels);
  const fraction = new Float32Array(pixels);
  for (let i = 0; i < pixels; i++) {
    const position = Math.min(Math.max((i + 0.5) / pixelsPerSample - 0.5, 0), samples - 1);
    const floor = Math.floor(position);
    before[i] = floor;
    after[i] = Math.min(floor + 1, samples - 1);
    fraction[i] = position - floor;
  }
  return { before, after, fraction };
}
