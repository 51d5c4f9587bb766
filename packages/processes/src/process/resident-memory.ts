import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Resident memory of a process in bytes, or undefined when it is gone or the system does not tell. */
export async function residentMemoryBytes(pid: number): Promise<number | undefined> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  }
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  const kibibytes = Number.parseInt(stdout, 10);
  return Number.isNaN(kibibytes) ? undefined : kibibytes * 1024;
}
