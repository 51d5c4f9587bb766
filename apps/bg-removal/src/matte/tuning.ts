/** Parameters for clients. Neutral values: strength 1, threshold 0, feather 0. */
export interface Tuning {
  /** 0-255; alpha up to this becomes 0, the rest is stretched. */
  readonly threshold: number;
  /** 10-90 % width of a hard edge, in output pixels. */
  readonly feather: number;
  /** 0.5-2; above 1 makes translucent areas more opaque. */
  readonly foregroundStrength: number;
}

export const defaultTuning: Tuning = { threshold: 12, feather: 2, foregroundStrength: 1 };
/** Changes nothing. */
export const neutralTuning: Tuning = { threshold: 0, feather: 0, foregroundStrength: 1 };

/**
 * Applies strength, then threshold, to one alpha value in 0-1: `α ← sα/(1+(s−1)α)`, then with
 * `τ = t/255`: `α ← max(0, (α−τ)/(1−τ))`; at `t = 255` only full alpha remains.
 */
export function tuneAlpha(alpha: number, { foregroundStrength: s, threshold }: Tuning): number {
  const strong = (s * alpha) / (1 + (s - 1) * alpha);
  const tau = threshold / 255;
  if (tau >= 1) return strong >= 1 ? 1 : 0;
  return Math.max(0, (strong - tau) / (1 - tau));
}

/** {@link tuneAlpha} for every 8-bit alpha value. */
export function tuningTable(tuning: Tuning): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, alpha) => Math.round(tuneAlpha(alpha / 255, tuning) * 255));
}
