import { readFile } from 'node:fs/promises';

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param {readonly number[]} values @param {number} share for example 0.99 */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

/** Resident memory of a process in MiB (Linux): now (`VmRSS`) or the most it has had (`VmHWM`). */
export async function memoryMiB(pid, field) {
  // A process that has just been recycled is gone.
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const value = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status);
  return value ? Math.round(Number(value[1]) / 1024) : 0;
}
