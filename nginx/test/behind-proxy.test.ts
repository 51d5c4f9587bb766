import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { onFreePort, PortInUseError } from '@media-services/stack';
import { findExecutable, findNginx } from '@media-services/stack/set-up';
import { atNight } from '../../proof/vitest/at-night.js';
import { startGateway, type TestGateway } from './support/gateway.js';

/** A proxy in front of the gateway, from a recipe in deploy/proxies, without TLS. */
interface FrontProxy extends AsyncDisposable {
  readonly port: number;
}

const recipes = resolve(import.meta.dirname, '../../deploy/proxies');
const recipe = (name: string) => readFileSync(join(recipes, name), 'utf8');

const caddy = usableCaddy();
const mebibyte = 1024 * 1024;
const proxies: [string, (gatewayPort: number) => Promise<FrontProxy>][] = [
  ['nginx', startNginxProxy],
  // Only if installed. Before 2.8 it ended a truncated stream like a complete one.
  ...(caddy === undefined ? [] : [['Caddy', startCaddyProxy] as [string, typeof startCaddyProxy]]),
];

describe.each(proxies)('behind %s, as deploy/proxies sets it up', (_name, startProxy) => {
  let gateway: TestGateway;
  let proxy: FrontProxy;

  beforeAll(async () => {
    gateway = await startGateway({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
    proxy = await startProxy(gateway.port);
  });

  beforeEach(() => gateway.resetServices());

  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await gateway[Symbol.asyncDispose]();
  });

  /** Sends a request from a separate IP address, like a client on the internet. */
  async function ask(
    path: string,
    options: { from?: string; method?: string; body?: Buffer; headers?: Record<string, string> } = {},
  ): Promise<IncomingMessage> {
    const { from = '127.0.0.2', method = 'GET', body, headers = {} } = options;
    const sent = request({
      host: '127.0.0.1',
      port: proxy.port,
      path,
      method,
      localAddress: from,
      headers,
      agent: false,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  async function bytesOf(response: IncomingMessage): Promise<number> {
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) bytes += chunk.length;
    return bytes;
  }

  test.each([30, ...atNight([300])])('a stream of %d MiB arrives complete', async (size) => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'video/mp4' });
      const block = Buffer.alloc(mebibyte);
      let left = size;
      const write = (): void => {
        while (left > 0) {
          left -= 1;
          if (!res.write(block)) {
            res.once('drain', write);
            return;
          }
        }
        res.end();
      };
      write();
    });

    expect(await bytesOf(await ask('/api/stream/video?url=x'))).toBe(size * mebibyte);
  });

  test.each([
    ['without a length', {}],
    ['with a length', { 'Content-Length': '1000000' }],
  ])('a truncated stream %s is detected as broken', async (_kind, headers) => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'video/mp4', ...headers });
      res.write(Buffer.alloc(100_000), () => res.socket?.resetAndDestroy());
    });

    await expect(ask('/api/stream/video?url=x').then(bytesOf)).rejects.toThrow(/aborted|reset|hang up/i);
  });

  test('the first bytes of a stream arrive while the service is still working', async () => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'audio/mpeg' });
      res.write('a few bytes');
    });
    const response = await ask('/api/stream?url=x');
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('a few bytes');
    response.on('error', () => undefined); // its own end
    response.destroy();
  });

  test('a client that leaves ends its request at the service', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => {
      gateway.videoDl.respondWith((req, res) => {
        res.writeHead(200, { 'Content-Type': 'video/mp4' });
        res.write('first bytes');
        resolve(req);
      });
    });
    const response = await ask('/api/stream/video?url=x');
    const upstream = await arrived;
    const closed = once(upstream.socket, 'close');

    response.on('error', () => undefined); // its own end
    response.destroy();

    await closed;
  });

  test('an upload of the maximum size passes', async () => {
    gateway.bgRemoval.respondWith((req, res) => {
      let bytes = 0;
      req.on('data', (chunk: Buffer) => (bytes += chunk.length));
      req.on('end', () => res.end('x'.repeat(bytes / mebibyte)));
    });
    const body = Buffer.alloc(16 * mebibyte);
    const response = await ask('/api/remove-background', {
      method: 'POST',
      body,
      headers: { 'Content-Length': String(body.length) },
    });
    expect(await bytesOf(response)).toBe(16);
  });

  test('limits count the client instead of the proxy, whatever headers it sends', async () => {
    const send = async (index: number) => {
      const headers = { 'X-Forwarded-For': `203.0.113.${index}` };
      const response = await ask('/api/info?url=x', { from: '127.0.0.3', headers });
      response.resume();
      return response.statusCode;
    };
    // Four at once: one after the other, a slow machine takes so long that another one is allowed.
    const statuses: (number | undefined)[] = [];
    for (const first of [0, 4, 8])
      statuses.push(...(await Promise.all([0, 1, 2, 3].map((more) => send(first + more)))));
    expect(statuses.sort()).toEqual([...Array.from({ length: 11 }, () => 200), 429]);

    const another = await ask('/api/info?url=x', { from: '127.0.0.4' });
    expect(another.statusCode).toBe(200);
    another.resume();
  });
});

async function startNginxProxy(gatewayPort: number): Promise<FrontProxy> {
  const { nginx } = findNginx();
  if (nginx === undefined) throw new Error('This test needs nginx: run `npm run setup`.');
  const server = (port: number) =>
    changed(recipe('nginx.conf'), [
      ['listen 443 ssl;', `listen 127.0.0.1:${port};`],
      [/^ +ssl_certificate.*$/gm, ''],
      ['http://127.0.0.1:8080', `http://127.0.0.1:${gatewayPort}`],
    ]);
  return start(nginx, (folder, port) => {
    const file = join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ');
    const user = process.getuid?.() === 0 ? 'user root; ' : '';
    writeFileSync(
      file,
      `${user}daemon off; pid ${folder}/pid; error_log stderr crit; events {} http { access_log off; ${temporary}\n${server(port)} }`,
    );
    return ['-c', file, '-e', 'stderr'];
  });
}

async function startCaddyProxy(gatewayPort: number): Promise<FrontProxy> {
  if (caddy === undefined) throw new Error('caddy is not installed');
  return start(caddy, (folder, port) => {
    const file = join(folder, 'Caddyfile');
    const sites = changed(recipe('Caddyfile'), [
      ['media.example.org {', `http://127.0.0.1:${port} {`],
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy 127.0.0.1:${gatewayPort}`],
    ]);
    writeFileSync(file, `{\n\tadmin off\n}\n${sites}`);
    return ['run', '--config', file, '--adapter', 'caddyfile'];
  });
}

function usableCaddy(): string | undefined {
  const file = findExecutable('caddy');
  if (file === undefined) return undefined;
  const version = /^v?2\.(\d+)/.exec(execFileSync(file, ['version'], { encoding: 'utf8' }));
  // A build from source may not know its version.
  return version === null || Number(version[1]) >= 8 ? file : undefined;
}

/** Applies changes to a recipe. Fails if one doesn't match, so that we really test the recipe. */
function changed(text: string, changes: readonly [string | RegExp, string][]): string {
  return changes.reduce((all, [from, to]) => {
    const next = all.replace(from, to);
    if (next === all) throw new Error(`The recipe has no ${String(from)} any more.`);
    return next;
  }, text);
}

async function start(
  program: string,
  configure: (folder: string, port: number) => readonly string[],
): Promise<FrontProxy> {
  return onFreePort(async (port) => {
    const folder = mkdtempSync(join(tmpdir(), 'front-proxy-'));
    const child = spawn(program, configure(folder, port), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    });
    const exited = once(child, 'exit');
    const dispose = async (): Promise<void> => {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    };
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    while (!(await accepts(port))) {
      if (child.exitCode === null) {
        await delay(20);
        continue;
      }
      await dispose();
      const message = `${program} did not start:\n${said}`;
      throw /already in use/i.test(said) ? new PortInUseError(message) : new Error(message);
    }
    return { port, [Symbol.asyncDispose]: dispose };
  });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
    socket.once('error', () => settle(false));
  });
}
