/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Plane } from './plane.js';

/** Below this raw maximum the network found no subject, and stretching would turn its noise into a mask. */
export const foregroundFloor = 0.5;

/** Minimum share of the mask above {@link foregroundFloor}; noise exceeds that in single spots. */
const leastForegroundShare = 0.0002;

/**
 * A sigmoid rarely reaches 0 and 1 exactly, so values this close count as 0 or 1. This keeps
 * solid subjects solid.
 */
const saturation = 0.01;

/**
 * Stretches the network's output to 0-1 in place, as its training expects.
 * @returns false if there is no foreground; the plane is then unchanged
 */
export function stretchMask({ data }: Plane): boolean {
  let min = Infinity;
  let max = -Infinity;
  let foreground = 0;
  for (let i = 0; i < data.length; i++) {
    const value = data[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    if (value >= foregroundFloor) foreground++;
  }
  if (foreground === 0 || foreground < leastForegroundShare * data.length) return false;
  // A mask that is foreground everywhere has nothing to stretch.
  const low = min >= foregroundFloor ? 0 : Math.max(0, min);
  const margin = saturation * (max - low);
  const from = low + margin;
  const scale = 1 / (max - low - 2 * margin);
  for (let i = 0; i < data.length; i++) data[i] = Math.min(1, Math.max(0, (data[i]! - from) * scale));
  return true;
}
