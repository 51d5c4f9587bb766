import { readFile } from 'node:fs/promises';

/**
 * Resident memory of a process in MiB (Linux); 0 if the process has ended.
 * @param field the current value or the peak
 */
async function memoryMiB(pid: number | undefined, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, 'utf8').catch(() => '');
  const [, kilobytes = 0] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

export const residentMiB = (pid: number | undefined): Promise<number> => memoryMiB(pid, 'VmRSS');

export const peakMiB = (pid: number | undefined): Promise<number> => memoryMiB(pid, 'VmHWM');
