import type { TeamMember } from './team-member.js';
import { tuningTable, type Tuning } from './tuning.js';

/** A new matte (0-255) with strength and threshold applied. */
export function tuneMatte(alpha: Uint8Array, tuning: Tuning, team: TeamMember): Uint8Array {
  const tuned = team.bytes(alpha.length);
  const table = team.place(tuningTable(tuning));
  const [source, target] = [team.addressOf(alpha), team.addressOf(tuned)];
  team.each(alpha.length, (from, to) =>
    team.call('lookUp', { from: source + from, to: target + from, count: to - from, table }),
  );
  return tuned;
}
