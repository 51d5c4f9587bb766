import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The resources of a running stack at one moment (Linux). */
export interface Footprint {
  /** Processes by part. */
  readonly processes: ReadonlyMap<string, number>;
  /** Resident memory by part, bytes. */
  readonly memory: ReadonlyMap<string, number>;
  readonly sockets: number;
  readonly descriptors: number;
  /** Files, with their paths. */
  readonly temporaryFiles: readonly string[];
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly part: string;
}

/** The parts of the stack by a process's command line; the first match counts. */
const parts: readonly (readonly [string, RegExp])[] = [
  ['gateway', /nginx/],
  ['ffmpeg', /ffmpeg|ffprobe/],
  ['inference', /inference-process/],
  ['pixels', /pixel-process/],
  ['parser', /parser-process/],
  ['video-dl', /video-dl\/dist\/main\.js/],
  ['bg-removal', /bg-removal\/dist\/main\.js/],
  ['download engine', /python/],
];

/**
 * @param roots the processes we started; includes all their descendants
 * @param scratch the `TMPDIR` of all of them, which identifies those that have lost their parent
 * @param folders where to look for temporary files
 */
export function takeFootprint(
  roots: readonly number[],
  scratch: string,
  folders: readonly string[],
): Footprint {
  const processes = new Map<string, number>();
  const memory = new Map<string, number>();
  let sockets = 0;
  let descriptors = 0;
  for (const { pid, part } of processesOf(roots, scratch)) {
    add(processes, part, 1);
    add(memory, part, residentBytes(pid));
    const open = descriptorsOf(pid);
    descriptors += open.length;
    sockets += open.filter((target) => target.startsWith('socket:')).length;
  }
  const temporaryFiles = folders.flatMap(filesBelow);
  return { processes, memory, sockets, descriptors, temporaryFiles };
}

/** The processes of the stack. */
export function processesOf(roots: readonly number[], scratch: string): Process[] {
  const all = new Map<number, { readonly parent: number; readonly command: string }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // pid (name) state ppid …
    const parent = / \S (\d+) /.exec(textOf(`/proc/${name}/stat`).replace(/^.*\)/s, ''))?.[1];
    if (parent === undefined) continue;
    all.set(Number(name), {
      parent: Number(parent),
      command: textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' '),
    });
  }
  const belongs = (pid: number): boolean =>
    roots.includes(pid) || (all.has(pid) && belongs(all.get(pid)?.parent ?? 0));
  const marker = `TMPDIR=${scratch}`;
  const found: Process[] = [];
  for (const [pid, { parent, command }] of all) {
    const isMarked = () => textOf(`/proc/${pid}/environ`).split('\0').includes(marker);
    if (!belongs(pid) && !isMarked()) continue;
    // A process that has ended remains until its parent has read its exit code.
    const part = command === '' ? 'ended' : parts.find(([, pattern]) => pattern.test(command))?.[0];
    found.push({ pid, parent, part: part ?? command.split(' ')[0] ?? '' });
  }
  return found;
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

function descriptorsOf(pid: number): string[] {
  return listOf(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return []; // closed meanwhile
    }
  });
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => `${entry.parentPath}/${entry.name}`);
  } catch {
    return []; // a folder in it went away meanwhile; the next look sees the rest
  }
}

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // gone meanwhile
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return ''; // gone meanwhile
  }
}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}
