import { readdirSync, readFileSync } from 'node:fs';

/** Marks every process of one stack, whatever process group it has put itself into. */
export const markerName = 'MEDIA_SERVICES_STACK';

/**
 * Processes that carry the marker (Linux; elsewhere none are found).
 * @returns {{ pid: number, command: string }[]}
 */
export function markedProcesses(marker) {
  if (process.platform !== 'linux') return [];
  const entry = `${markerName}=${marker}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => entriesOf(pid, 'environ').includes(entry))
    .map((pid) => ({ pid: Number(pid), command: commandOf(pid) }));
}

/** Ends what a stack that is stopped has left; returns how many there were. */
export function killMarked(marker) {
  const processes = markedProcesses(marker);
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // ended by itself meanwhile
    }
  }
  return processes.length;
}

/** A process's command line; empty where it is gone (Linux). */
export function commandOf(pid) {
  return entriesOf(pid, 'cmdline').join(' ').trim();
}

function entriesOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
  } catch {
    // Gone, or somebody else's.
    return [];
  }
}
