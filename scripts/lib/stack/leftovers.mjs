import { readdirSync, readFileSync } from 'node:fs';

/** Marks every process of one stack, whatever process group it has put itself into. */
export const markerName = 'MEDIA_SERVICES_STACK';

/** Processes that still carry the marker (Linux; elsewhere none are found). */
export function markedProcesses(marker) {
  if (process.platform !== 'linux') return [];
  const entry = `${markerName}=${marker}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => environmentOf(pid).includes(entry))
    .map(Number);
}

/** Ends what a stack that is stopped has left; returns how many there were. */
export function killMarked(marker) {
  const pids = markedProcesses(marker);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // ended by itself meanwhile
    }
  }
  return pids.length;
}

function environmentOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    // Gone, or somebody else's.
    return [];
  }
}
