import { readdir, readFile } from 'node:fs/promises';

const ticksPerSecond = 100;
const bytesPerPage = 4096;

export interface TreeUse {
  /** CPU time of running and ended processes. */
  readonly cpuSeconds: number;
  /** Resident memory of the running processes; shared memory counts for each. */
  readonly memoryBytes: number;
}

/** What a process and its descendants have used (Linux). */
export async function treeUse(root: number): Promise<TreeUse> {
  const processes = (
    await Promise.all((await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(read))
  ).filter((each) => each !== undefined);
  const inTree = new Set([root]);
  // A child may be listed before its parent.
  for (let size = 0; size !== inTree.size;) {
    size = inTree.size;
    for (const { pid, parent } of processes) if (inTree.has(parent)) inTree.add(pid);
  }
  const own = processes.filter(({ pid }) => inTree.has(pid));
  return {
    cpuSeconds: own.reduce((sum, { ticks }) => sum + ticks, 0) / ticksPerSecond,
    memoryBytes: own.reduce((sum, { pages }) => sum + pages, 0) * bytesPerPage,
  };
}

async function read(pid: string) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in parentheses, may contain anything.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  if (fields.length < 22) return undefined;
  const [, parent = 0] = fields;
  const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
  return { pid: Number(pid), parent, ticks, pages: fields[21] ?? 0 };
}
