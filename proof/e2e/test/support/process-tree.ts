import { readdirSync, readFileSync } from 'node:fs';

export interface RunningProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

/** All descendants of `pid` (Linux). */
export function descendantsOf(pid: number): RunningProcess[] {
  const all = runningProcesses();
  const below = (parent: number): RunningProcess[] =>
    all.filter(({ parentPid }) => parentPid === parent).flatMap((each) => [each, ...below(each.pid)]);
  return below(pid);
}

function runningProcesses(): RunningProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        // A zombie has ended; its parent has not reaped it yet.
        if (/^State:\s+Z/m.test(status)) return [];
        return [{ pid: Number(name), parentPid: Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]), command }];
      } catch {
        // The process ended after it was listed.
        return [];
      }
    });
}
