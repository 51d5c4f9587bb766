import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { memoryMiB } from './statistics.mjs';

const main = path.resolve(import.meta.dirname, '../../apps/bg-removal/dist/main.js');

/** The built service in its own process on free ports, warm. */
export async function startService(env = {}) {
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', IMAGES_PER_MINUTE: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let url;
  for await (const line of createInterface({ input: child.stdout })) {
    url = JSON.parse(line).url;
    if (url) break;
  }
  child.stdout.resume();
  if (!url) throw new Error('the service did not start');
  while ((await fetch(`${url}/api/health`)).status !== 200) await delay(100);
  const childrenOf = async () =>
    (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ');

  return {
    url,
    pid: child.pid,
    async request(bytes, { signal } = {}) {
      const form = new FormData();
      form.append('file', new Blob([bytes]), 'picture.jpg');
      const startedAt = performance.now();
      const response = await fetch(`${url}/api/remove-background`, { method: 'POST', body: form, signal });
      const body = await response.arrayBuffer();
      const total = performance.now() - startedAt;
      const stages = Object.fromEntries(
        (response.headers.get('server-timing') ?? '').split(', ').map((entry) => {
          const [stage, duration] = entry.split(';dur=');
          return [stage, Number(duration)];
        }),
      );
      return { status: response.status, total, stages, bytesOut: body.byteLength };
    },
    servicePeakMiB: () => memoryMiB(child.pid, 'VmHWM'),
    residentMiB: () => memoryMiB(child.pid, 'VmRSS'),
    inferencePeakMiB: async () => largest(await childrenOf(), 'VmHWM'),
    inferenceResidentMiB: async () => largest(await childrenOf(), 'VmRSS'),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function largest(pids, field) {
  return Math.max(...(await Promise.all(pids.map((pid) => memoryMiB(pid, field)))));
}
