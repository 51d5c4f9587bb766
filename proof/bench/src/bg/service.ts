import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { precisions, type Precision } from '@media-services/bg-removal/dist/inference/choices.js';
import { root } from '@media-services/stack/set-up';
import { execa } from 'execa';
import { z } from 'zod';
import { urlFrom } from '../service-url.js';
import { peakMiB, residentMiB } from './memory.js';

const main = path.join(root, 'apps/bg-removal/dist/main.js');
const healthSchema = z.object({
  checks: z.object({ engine: z.object({ model: z.string(), precision: z.enum(precisions) }) }),
});
/** The service's child processes, identified by their scripts. */
const scripts = { inference: 'inference-process.js', pixels: 'pixel-process.js' };

/** MiB of each process. */
interface ServiceMemory {
  readonly service: number;
  readonly pixels: readonly number[];
  readonly inference: readonly number[];
}

export interface Service {
  readonly url: string;
  readonly precision: Precision;
  request(file: Uint8Array<ArrayBuffer>): Promise<{
    status: number;
    ms: number;
    stages: Record<string, number>;
  }>;
  /** The most so far. */
  peakMiB(): Promise<ServiceMemory>;
  /** Now. */
  residentMiB(): Promise<ServiceMemory>;
  stop(): Promise<void>;
}

/** The built service in a separate process on free ports, warm and without a limit per client. */
export async function startService(env: Readonly<Record<string, string>> = {}): Promise<Service> {
  const child = execa(process.execPath, [main], {
    env: { PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', IMAGES_PER_MINUTE: '0', ...env },
    stdin: 'ignore',
    stderr: 'inherit',
    buffer: false,
  });
  const url = await urlFrom(child.stdout);
  let health: Response;
  while ((health = await fetch(`${url}/api/health`)).status !== 200) await delay(100);
  const { engine } = healthSchema.parse(await health.json()).checks;

  const childrenRunning = async (script: string): Promise<number[]> => {
    const pid = child.pid ?? 0;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    const pids = children.trim().split(' ').map(Number);
    // A process that has just ended has no command line.
    const commands = await Promise.all(
      pids.map((each) => readFile(`/proc/${each}/cmdline`, 'utf8').catch(() => '')),
    );
    return pids.filter((_, i) => commands[i]?.includes(script));
  };
  const memoryBy = (memory: (pid: number | undefined) => Promise<number>) => async () => ({
    service: await memory(child.pid),
    pixels: await Promise.all((await childrenRunning(scripts.pixels)).map(memory)),
    inference: await Promise.all((await childrenRunning(scripts.inference)).map(memory)),
  });

  return {
    url,
    precision: engine.precision,
    async request(file) {
      const form = new FormData();
      form.append('file', new Blob([file]), 'picture.jpg');
      const startedAt = performance.now();
      const response = await fetch(`${url}/api/remove-background`, { method: 'POST', body: form });
      await response.arrayBuffer();
      const ms = performance.now() - startedAt;
      return { status: response.status, ms, stages: stagesOf(response) };
    },
    peakMiB: memoryBy(peakMiB),
    residentMiB: memoryBy(residentMiB),
    async stop() {
      child.kill('SIGTERM');
      await child;
    },
  };
}

/** Keeps reading the log, because the service would block otherwise. */
/** Milliseconds of each stage, from the header `Server-Timing`. */
function stagesOf(response: Response): Record<string, number> {
  const entries = (response.headers.get('server-timing') ?? '').split(', ').map((entry) => {
    const [stage = '', duration] = entry.split(';dur=');
    return [stage, Number(duration)] as const;
  });
  return Object.fromEntries(entries);
}
