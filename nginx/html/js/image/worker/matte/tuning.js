// Built from apps/bg-removal/src/matte/tuning.ts. Edit that file instead.
export const defaultTuning = { threshold: 12, feather: 2, foregroundStrength: 1 };
/**
 * Applies strength, then threshold, to one alpha value in 0-1: `α ← sα/(1+(s−1)α)`, then with
 * `τ = t/255`: `α ← max(0, (α−τ)/(1−τ))`; at `t = 255` only full alpha remains.
 */
export function tuneAlpha(alpha, { foregroundStrength: s, threshold }) {
    const strong = (s * alpha) / (1 + (s - 1) * alpha);
    const tau = threshold / 255;
    if (tau >= 1)
        return strong >= 1 ? 1 : 0;
    return Math.max(0, (strong - tau) / (1 - tau));
}
/** {@link tuneAlpha} for every 8-bit alpha value. */
export function tuningTable(tuning) {
    return Uint8Array.from({ length: 256 }, (_, alpha) => Math.round(tuneAlpha(alpha / 255, tuning) * 255));
}
