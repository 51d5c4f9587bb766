import { readdirSync, readFileSync } from 'node:fs';
import { execa } from 'execa';

/** Resident memory of a process in bytes; undefined when it is gone or the system doesn't report it. */
export async function residentMemoryBytes(pid: number): Promise<number | undefined> {
  if (process.platform === 'linux') {
    const status = readFromKernel(`/proc/${pid}/status`);
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  }
  const { stdout } = await execa('ps', ['-o', 'rss=', '-p', String(pid)], { reject: false });
  const kibibytes = Number.parseInt(stdout, 10);
  return Number.isNaN(kibibytes) ? undefined : kibibytes * 1024;
}

/** Resident memory of a process and all its descendants, in bytes; 0 when it is gone. */
export async function treeMemoryBytes(pid: number): Promise<number> {
  const own = (await residentMemoryBytes(pid)) ?? 0;
  const theirs = await Promise.all(childrenOf(pid).map(treeMemoryBytes));
  return theirs.reduce((sum, bytes) => sum + bytes, own);
}

/** The kernel counts in hundredths of a second for programs, whatever its own clock is. */
const msPerTick = 10;

/** Processor time of a process and its threads, in milliseconds; undefined when it is gone or this isn't Linux. */
export function processorTimeMs(pid: number): number | undefined {
  const stat = readFromKernel(`/proc/${pid}/stat`);
  // The program's name, in brackets, may contain spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isNaN(ticks) ? undefined : ticks * msPerTick;
}

/** Linux lists the children of each thread; elsewhere only the process itself counts. */
function childrenOf(pid: number): number[] {
  const lists = threadsOf(pid).map((thread) => readFromKernel(`/proc/${pid}/task/${thread}/children`));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // gone, or not Linux
  }
}

/** Synchronous, because the kernel responds at once: a file handle for each would cost six times as much. */
function readFromKernel(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone
  }
}
