import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

async function firstJson(child, isWanted) {
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const found = JSON.parse(line);
    if (isWanted(found)) {
      // Nobody reads on; the pipe must not fill up.
      child.stdout.resume();
      return found;
    }
  }
  throw new Error('a process of the benchmark ended before it was ready');
}

/** The media server. */
export async function startOrigin() {
  const child = fork(path('./origin.mjs'), { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const { port } = await firstJson(child, () => true);
  const host = `127.0.0.1:${port}`;
  return {
    host,
    url: `http://${host}`,
    sentBytes: async () => Number(await (await fetch(`http://${host}/sent`)).text()),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** video-dl as it ships, in a process of its own. */
export async function startService(allowed, env = {}) {
  const child = spawn(process.execPath, [path('../../apps/video-dl/dist/main.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...{ PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'info' },
      ...{ ENGINE_POOL_SIZE: '1', SHUTDOWN_GRACE_SECONDS: '0', ALLOWED_PRIVATE_SOURCES: allowed },
      ...{ MAX_CONCURRENT_STREAMS: '64', CLIENT_IDLE_TIMEOUT_SECONDS: '600', ...env },
    },
  });
  const { url } = await firstJson(child, ({ msg }) => msg === 'listening');
  while (!(await fetch(`${url}/api/health`)).ok) await new Promise((resolve) => setTimeout(resolve, 200));
  return {
    url,
    streamUrl: (page, target) =>
      `${url}/api/stream${target === 'mp3' ? '' : '/video'}?url=${encodeURIComponent(page)}${target === 'mp3' ? '' : `&fmt=${target}`}`,
    infoUrl: (page) => `${url}/api/info?url=${encodeURIComponent(page)}`,
    /** Resident memory of the Node process in bytes. */
    memory: async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/u.exec(status)?.[1]) * 1024;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** Runs a command to its end; its wall time in milliseconds. */
export async function timeCommand(file, args) {
  const start = performance.now();
  const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${errors}`);
  return performance.now() - start;
}
