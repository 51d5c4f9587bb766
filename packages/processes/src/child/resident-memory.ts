import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';

/** Resident memory of a process in bytes, or undefined when it is gone or the system does not tell. */
export async function residentMemoryBytes(pid: number): Promise<number | undefined> {
  if (process.platform === 'linux') {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  }
  const { stdout } = await execa('ps', ['-o', 'rss=', '-p', String(pid)], { reject: false });
  const kibibytes = Number.parseInt(stdout, 10);
  return Number.isNaN(kibibytes) ? undefined : kibibytes * 1024;
}

/** Resident memory of a process and everything that it started, in bytes; 0 when it is gone. */
export async function treeMemoryBytes(pid: number): Promise<number> {
  const [own = 0, children] = await Promise.all([residentMemoryBytes(pid), childrenOf(pid)]);
  const theirs = await Promise.all(children.map(treeMemoryBytes));
  return theirs.reduce((sum, bytes) => sum + bytes, own);
}

/** Linux tells the children of each thread; elsewhere only the process itself counts. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}
