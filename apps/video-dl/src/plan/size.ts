/** Pixels; null where they are not known. */
export interface Size {
  readonly height: number | null;
  readonly width: number | null;
}

/** A video's size, scaled down with its shape kept until the shorter side has at most `maxShortSide` pixels. */
export function fitInto({ height, width }: Size, maxShortSide: number): Size {
  if (height === null || width === null) return { height, width };
  const scale = Math.min(1, maxShortSide / Math.min(height, width));
  // As 4:2:0 wants them.
  const even = (pixels: number) => 2 * Math.max(1, Math.floor((pixels * scale) / 2 + 1e-6));
  return { height: even(height), width: even(width) };
}
