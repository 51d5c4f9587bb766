import { readFile } from 'node:fs/promises';

/** Nothing may hold the event loop for longer. */
const maxBlockedMs = 200;
/** How far a measured time may be below the real one. */
const pollMs = 20;
/** Other programs and the garbage collector slow down some rounds; a blocked loop slows down all. */
const maxRounds = 8;

/**
 * Repeats `work` until it returns true and the event loop stays free meanwhile. Fails if that
 * never happens.
 * @returns the last round
 */
export async function expectFreeLoop(
  service: WatchedService,
  work: (round: number) => Promise<boolean>,
): Promise<LoopWatch> {
  const rounds: string[] = [];
  for (let round = 0; round < maxRounds; round += 1) {
    const watch = await watchLoop(service, () => work(round));
    if (watch.isCalm && watch.blockedMs < maxBlockedMs) return watch;
    rounds.push(`${watch.blockedMs} ms${watch.isCalm ? '' : ', others waited'}`);
  }
  throw new Error(`The event loop was held: ${rounds.join('; ')}.`);
}

interface WatchedService {
  readonly pid: number;
  readonly metricsUrl: string;
}

interface LoopWatch {
  /** What the work returned. */
  readonly isCalm: boolean;
  /** The longest time that the event loop was busy, in milliseconds. */
  readonly blockedMs: number;
  readonly residentBytes: number;
}

/**
 * Requests `/livez` repeatedly during `work`. A slow response counts only as much CPU time as the
 * main thread used meanwhile, because a busy machine alone doesn't block the event loop.
 */
async function watchLoop(
  { pid, metricsUrl }: WatchedService,
  work: () => Promise<boolean>,
): Promise<LoopWatch> {
  const over = new AbortController();
  const watch = { isCalm: false, blockedMs: 0, residentBytes: 0 };
  const watching = (async () => {
    while (!over.signal.aborted) {
      const [startedAt, cpuBefore] = [performance.now(), await mainThreadCpuMs(pid)];
      await (await fetch(`${metricsUrl}/livez`)).arrayBuffer();
      const elapsedMs = performance.now() - startedAt;
      const cpuMs = (await mainThreadCpuMs(pid)) - cpuBefore;
      watch.blockedMs = Math.max(watch.blockedMs, Math.min(elapsedMs, cpuMs));
      watch.residentBytes = Math.max(watch.residentBytes, await residentBytes(pid));
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  })();
  try {
    watch.isCalm = await work();
  } finally {
    over.abort();
    await watching;
  }
  return watch;
}

/** Infinity if the system doesn't report it, so that the whole time counts. */
async function mainThreadCpuMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  if (user === undefined || system === undefined) return performance.now();
  return (user + system) * 10;
}

export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1] ?? 0) * 1024;
}
