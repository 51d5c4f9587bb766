import { readFile } from 'node:fs/promises';

/**
 * Resident bytes of this process's children and theirs, by program. Linux only: elsewhere
 * there are none to see.
 */
export async function childMemory(): Promise<ReadonlyMap<string, number>> {
  const bytes = new Map<string, number>();
  const waiting = await childrenOf(process.pid);
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    waiting.push(...(await childrenOf(pid)));
    const [status, program] = [await textOf(`/proc/${pid}/status`), await textOf(`/proc/${pid}/comm`)];
    const kibibytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    const name = program.trim() || 'unknown';
    bytes.set(name, (bytes.get(name) ?? 0) + kibibytes * 1024);
  }
  return bytes;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await textOf(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').filter(Boolean).map(Number);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}
