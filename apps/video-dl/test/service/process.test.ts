import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Site, startSite } from '@media-services/fault-site';
import request, { type Response } from 'supertest';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const anyPort = { PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', ENGINE_PROCESSES: '1' };

describe('the process', () => {
  let site: Site;

  beforeAll(async () => (site = await startSite()));
  afterAll(async () => site.close());

  it('drains and exits with 0 on SIGTERM, and leaves no process behind', async () => {
    const { child, url } = await start({ ALLOWED_PRIVATE_SOURCES: site.host });
    expect((await infoOf(url, `${site.url}/watch`)).status).toBe(200);
    const engines = await childrenOf(child);
    expect(engines.length).toBeGreaterThan(0);

    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    site.on('/late', (_req, res) => {
      arrive();
      setTimeout(
        () => res.setHeader('content-type', 'text/html').end('<video src="/media/front.mp4"></video>'),
        500,
      );
    });
    const running = infoOf(url, `${site.url}/late`);
    await arrived;
    child.kill('SIGTERM');
    expect((await running).status).toBe(200);
    expect(await once(child, 'exit')).toEqual([0, null]);
    for (const pid of engines) expect(() => process.kill(pid, 0)).toThrow();
  });

  it('aborts requests that do not finish within the grace period', async () => {
    const { child, url } = await start({ ALLOWED_PRIVATE_SOURCES: site.host, SHUTDOWN_GRACE_SECONDS: '0.2' });
    let arrive = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    site.on('/stall', () => arrive());
    const outcome = expect(infoOf(url, `${site.url}/stall`)).rejects.toThrow();
    await arrived;
    const engines = await childrenOf(child);
    expect(engines).not.toEqual([]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await outcome;
    for (const pid of engines) expect(() => process.kill(pid, 0)).toThrow();
  });

  it.each([
    ['when it starts', []],
    ['with --check-config', ['--check-config']],
  ])('explains an invalid configuration and exits with 78 %s', async (_when, args) => {
    const { code, said } = await exitOf(args, { STREAMS_MAX: 'many', YTDLP_PYTHON: '' });
    expect(code).toBe(78);
    expect(said).toContain('STREAMS_MAX must be');
  });

  it('with --check-config, starts nothing if the configuration is valid', async () => {
    expect(await exitOf(['--check-config'], {})).toEqual({ code: 0, said: '' });
  });
});

async function start(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...anyPort, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { msg, url } = JSON.parse(line) as { msg?: string; url?: string };
    if (msg === 'listening' && url !== undefined) {
      child.stdout.resume();
      return { child, url };
    }
  }
  throw new Error('the service ended before it listened');
}

/** Runs a process that ends by itself. */
async function exitOf(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...anyPort, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

/** Sends the request immediately; supertest only sends it when awaited. */
async function infoOf(service: string, page: string): Promise<Response> {
  return request(service).get('/api/info').query({ url: page });
}

async function childrenOf(child: ChildProcess): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(child.pid)]);
  const own = stdout.trim().split(/\s+/).map(Number);
  // ps itself is a child of this test, not of the service.
  return own.filter((pid) => pid > 0);
}
