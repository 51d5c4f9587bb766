import type { Plane } from './plane.js';
import type { TeamMember } from './team-member.js';

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
const bytesPerValue = Float32Array.BYTES_PER_ELEMENT;

/**
 * Stretches the network's output to 0-1 in place, as its training expects.
 * @returns false if there is no foreground; the plane is then unchanged
 */
export function stretchMask({ data }: Plane, team: TeamMember): boolean {
  const { min, max, foreground } = measure(data, team);
  if (foreground === 0 || foreground < leastForegroundShare * data.length) return false;
  // A mask that is foreground everywhere has nothing to stretch.
  const low = min >= foregroundFloor ? 0 : Math.max(0, min);
  const margin = saturation * (max - low);
  const lowest = low + margin;
  const scale = 1 / (max - low - 2 * margin);
  const values = team.addressOf(data);
  team.each(data.length, (from, to) =>
    team.call('stretch', { values: values + from * bytesPerValue, count: to - from, lowest, scale }),
  );
  return true;
}

/** The least and the greatest value, and how many are above {@link foregroundFloor}. */
interface Measures {
  readonly min: number;
  readonly max: number;
  readonly foreground: number;
}

function measure(data: Float32Array, team: TeamMember): Measures {
  const parts = Math.ceil(data.length / partSize);
  const measures = team.floats(parts * 3);
  const [values, results] = [team.addressOf(data), team.addressOf(measures)];
  team.each(parts, (from, to) => {
    for (let part = from; part < to; part++) {
      const start = part * partSize;
      const count = Math.min(partSize, data.length - start);
      const result = results + part * 3 * bytesPerValue;
      team.call('measure', { values: values + start * bytesPerValue, count, floor: foregroundFloor, result });
    }
  });
  const every = (measure: number): Float32Array => measures.filter((_, i) => i % 3 === measure);
  return {
    min: every(0).reduce((least, value) => Math.min(least, value), Infinity),
    max: every(1).reduce((most, value) => Math.max(most, value), -Infinity),
    foreground: every(2).reduce((sum, count) => sum + count, 0),
  };
}
