import { readFile } from 'node:fs/promises';

/**
 * Resident memory of a process in MiB (Linux); 0 when the process is gone.
 * @param {number | undefined} pid
 * @param {'VmRSS' | 'VmHWM'} field as it is now, or the most that it has been
 */
async function memoryMiB(pid, field) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kilobytes = 0] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

/** @param {number | undefined} pid */
export const residentMiB = (pid) => memoryMiB(pid, 'VmRSS');

/** @param {number | undefined} pid */
export const peakMiB = (pid) => memoryMiB(pid, 'VmHWM');
