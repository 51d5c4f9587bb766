/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import type { Plane } from './plane.js';
import { alone, type Team } from './team.js';

/** Below this raw maximum the network found no subject, and stretching would turn its noise into a mask. */
export const foregroundFloor = 0.5;

/** Minimum share of the mask above {@link foregroundFloor}; noise exceeds that in single spots. */
const leastForegroundShare = 0.0002;

/**
 * A sigmoid rarely reaches 0 and 1 exactly, so values this close count as 0 or 1. This keeps
 * solid subjects solid.
 */
const saturation = 0.01;

/** Values that one member measures at a time; few enough that a count is exact in single precision. */
const partSize = 65_536;

/**
 * Stretches the network's output to 0-1 in place, as its training expects.
 * @returns false if there is no foreground; the plane is then unchanged
 */
export function stretchMask({ data }: Plane, team: Team = alone): boolean {
  const { min, max, foreground } = measure(data, team);
  if (foreground === 0 || foreground < leastForegroundShare * data.length) return false;
  // A mask that is foreground everywhere has nothing to stretch.
  const low = min >= foregroundFloor ? 0 : Math.max(0, min);
  const margin = saturation * (max - low);
  const lowest = low + margin;
  const scale = 1 / (max - low - 2 * margin);
  team.each(data.length, (from, to) => stretchValues(data, lowest, scale, from, to));
  return true;
}

function stretchValues(data: Float32Array, lowest: number, scale: number, from: number, to: number): void {
  for (let i = from; i < to; i++) data[i] = Math.min(1, Math.max(0, (data[i]! - lowest) * scale));
}

/** The least and the greatest value, and how many are above {@link foregroundFloor}. */
interface Measures {
  readonly min: number;
  readonly max: number;
  readonly foreground: number;
}

function measure(data: Float32Array, team: Team): Measures {
  const parts = Math.ceil(data.length / partSize);
  const [mins, maxs, counts] = [team.floats(parts), team.floats(parts), team.floats(parts)];
  team.each(parts, (from, to) => {
    for (let part = from; part < to; part++) {
      const values = data.subarray(part * partSize, (part + 1) * partSize);
      const { min, max, foreground } = measuresOf(values);
      [mins[part], maxs[part], counts[part]] = [min, max, foreground];
    }
  });
  return {
    min: mins.reduce((least, value) => Math.min(least, value), Infinity),
    max: maxs.reduce((most, value) => Math.max(most, value), -Infinity),
    foreground: counts.reduce((sum, count) => sum + count, 0),
  };
}

function measuresOf(values: Float32Array): Measures {
  let min = Infinity;
  let max = -Infinity;
  let foreground = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value < min) min = value;
    if (value > max) max = value;
    if (value >= foregroundFloor) foreground++;
  }
  return { min, max, foreground };
}
