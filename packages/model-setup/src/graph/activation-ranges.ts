import { z } from 'zod';

/**
 * What the activations of a network come to on photographs: tensor → [low, high].
 * Measured by `pnpm bench:activations`; eight-bit numbers are laid over these.
 */
export const activationRangesSchema = z.record(z.string(), z.tuple([z.number(), z.number()]));
export type ActivationRanges = z.output<typeof activationRangesSchema>;

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
