import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { z } from 'zod';
import { peakMiB, residentMiB } from './memory.mjs';

const main = path.resolve(import.meta.dirname, '../../apps/bg-removal/dist/main.js');
const logLineSchema = z.looseObject({ url: z.string().optional() });
const healthSchema = z.object({
  checks: z.object({ engine: z.object({ model: z.string(), precision: z.enum(['int8', 'fp32']) }) }),
});
/** How the service's children are told apart: by the script that they run. */
const scripts = { inference: 'inference-process.js', pixels: 'pixel-process.js' };

/** @typedef {Awaited<ReturnType<typeof startService>>} Service */

/**
 * The built service in its own process on free ports, warm, without its limit per client.
 * @param {Record<string, string>} [env]
 */
export async function startService(env = {}) {
  const child = execa(process.execPath, [main], {
    env: { PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', IMAGES_PER_MINUTE: '0', ...env },
    stdin: 'ignore',
    stderr: 'inherit',
    buffer: false,
  });
  const url = await addressFrom(child.iterable());
  child.stdout.resume();
  let health;
  while ((health = await fetch(`${url}/api/health`)).status !== 200) await delay(100);
  const { engine } = healthSchema.parse(await health.json()).checks;

  /** @param {string} name of a script */
  const childrenRunning = async (name) => {
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
    const pids = children.trim().split(' ').map(Number);
    // One that has just ended has no command line.
    const commands = await Promise.all(
      pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    return pids.filter((_, i) => commands[i]?.includes(name));
  };
  /** @param {(pid: number | undefined) => Promise<number>} memory */
  const memoryBy = (memory) => async () => ({
    service: await memory(child.pid),
    pixels: await Promise.all((await childrenRunning(scripts.pixels)).map(memory)),
    inference: await Promise.all((await childrenRunning(scripts.inference)).map(memory)),
  });

  return {
    url,
    precision: engine.precision,
    /** @param {Uint8Array<ArrayBuffer>} file */
    async request(file) {
      const form = new FormData();
      form.append('file', new Blob([file]), 'picture.jpg');
      const startedAt = performance.now();
      const response = await fetch(`${url}/api/remove-background`, { method: 'POST', body: form });
      const body = await response.arrayBuffer();
      const ms = performance.now() - startedAt;
      return { status: response.status, ms, stages: stagesOf(response), bytesOut: body.byteLength };
    },
    /** Of each process in MiB: the most so far. */
    peakMiB: memoryBy(peakMiB),
    /** Of each process in MiB: now. */
    residentMiB: memoryBy(residentMiB),
    async stop() {
      child.kill('SIGTERM');
      await child;
    },
  };
}

/**
 * @param {AsyncIterable<string>} logLines
 * @returns {Promise<string>}
 */
async function addressFrom(logLines) {
  for await (const line of logLines) {
    const { url } = logLineSchema.parse(JSON.parse(line));
    if (url !== undefined) return url;
  }
  throw new Error('the service did not start');
}

/**
 * Milliseconds of each stage, from the header `Server-Timing`.
 * @param {Response} response
 * @returns {Record<string, number>}
 */
function stagesOf(response) {
  const entries = (response.headers.get('server-timing') ?? '').split(', ').map((entry) => {
    const [stage = '', duration] = entry.split(';dur=');
    return /** @type {const} */ ([stage, Number(duration)]);
  });
  return Object.fromEntries(entries);
}
