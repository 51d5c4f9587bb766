import { readdirSync, readFileSync } from 'node:fs';
import { systemErrorCode } from '../user-error.mjs';

/** Marks every process of one stack, whatever process group it has put itself into. */
export const markerName = 'MEDIA_SERVICES_STACK';

/**
 * Processes that carry the marker (Linux; elsewhere none are found).
 * @returns {{ pid: number, command: string }[]}
 * @param {string} marker
 */
export function markedProcesses(marker, name = markerName) {
  if (process.platform !== 'linux') return [];
  const entry = `${name}=${marker}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => entriesOf(pid, 'environ').includes(entry))
    .map((pid) => ({ pid, command: commandOf(pid) }));
}

/**
 * Ends what a stack that is stopped has left; returns how many there were.
 * @param {string} marker
 */
export function killMarked(marker, name = markerName) {
  const processes = markedProcesses(marker, name);
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if (systemErrorCode(error) !== 'ESRCH') throw error; // ended by itself meanwhile
    }
  }
  return processes.length;
}

/**
 * A process's command line; empty where it is gone (Linux).
 * @param {number} pid
 */
export function commandOf(pid) {
  return entriesOf(pid, 'cmdline').join(' ').trim();
}

/**
 * @param {number} pid
 * @param {string} file
 */
function entriesOf(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').split('\0');
  } catch {
    // Gone, or somebody else's.
    return [];
  }
}
