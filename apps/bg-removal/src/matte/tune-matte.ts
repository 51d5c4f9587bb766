/* oxlint-disable typescript/no-non-null-assertion -- indices of typed arrays are in bounds by construction */
import { groupsOfFour } from '../images/rgba-image.js';
import { alone, type Team } from './team.js';
import { tuningTable, type Tuning } from './tuning.js';

/** A new matte (0-255) with strength and threshold applied. */
export function tuneMatte(alpha: Uint8Array, tuning: Tuning, team: Team = alone): Uint8Array {
  const table = tuningTable(tuning);
  const tuned = team.bytes(alpha.length);
  team.each(alpha.length, (from, to) => tuneValues(alpha, table, tuned, from, to));
  return tuned;
}

function tuneValues(alpha: Uint8Array, table: Uint8Array, tuned: Uint8Array, from: number, to: number): void {
  const groups = groupsOfFour(alpha);
  const tunedGroups = groupsOfFour(tuned);
  const full = Math.imul(table[255]!, 0x01010101);
  for (let at = from; at < to; at++) {
    if ((at & 3) === 0 && at + 4 <= to) {
      const values = groups[at >> 2]!;
      if (values === 0 || values === -1) {
        tunedGroups[at >> 2] = values === 0 ? 0 : full;
        at += 3;
        continue;
      }
    }
    tuned[at] = table[alpha[at]!]!;
  }
}
