/** What the values of an activation are held to: tensor → [low, high]. */
export type ActivationRanges = Readonly<Record<string, readonly [number, number]>>;

/** An activation in eight bits stands for `scale × (byte − zeroPoint)`. */
export interface Quantisation {
  readonly scale: number;
  readonly zeroPoint: number;
}

/** Lays 0-255 over a range that contains 0, which has to be exact. */
export function quantisationOf([low, high]: readonly [number, number]): Quantisation {
  const scale = Math.fround((Math.max(high, 0) - Math.min(low, 0)) / 255);
  return { scale, zeroPoint: Math.round(-Math.min(low, 0) / scale) };
}
