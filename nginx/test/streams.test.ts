import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type TestGateway } from './support/gateway.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ env: { VIDEO_REQUESTS_PER_MINUTE: '0' } });
});

beforeEach(async () => {
  await gateway.resetServices();
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const mebibyte = 1024 * 1024;
const streamUrl = () => `${gateway.url}/api/stream/video?url=x`;

/** Files that nginx has open in its own folders, including unlinked ones. */
function spooledFiles(): string[] {
  const children = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8');
  return children
    .split(' ')
    .filter(Boolean)
    .flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).map((descriptor) => readlinkSync(join(`/proc/${pid}/fd`, descriptor))),
    )
    .filter((target) => target.startsWith(gateway.runDir));
}

async function firstChunk(response: IncomingMessage): Promise<void> {
  await once(response, 'readable');
  response.read();
}

test('a stream arrives complete', async () => {
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'video/mp4' });
    for (let count = 0; count < 8; count += 1) res.write(Buffer.alloc(mebibyte, count));
    res.end();
  });

  const body = await (await fetch(streamUrl())).arrayBuffer();

  expect(body.byteLength).toBe(8 * mebibyte);
});

test.each([
  ['without a length', {}],
  ['with a length', { 'Content-Length': '1000000' }],
])('a truncated stream %s reaches the client as broken', async (_name, headers) => {
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'video/mp4', ...headers });
    res.write(Buffer.alloc(100_000), () => res.socket?.resetAndDestroy());
  });

  const response = await fetch(streamUrl());

  expect(response.status).toBe(200);
  await expect(response.arrayBuffer()).rejects.toThrow();
});

test('the first bytes arrive while the service is still working', async () => {
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'audio/mpeg' });
    res.write('a few bytes');
  });

  const response = await fetch(`${gateway.url}/api/stream?url=x`);
  const reader = response.body?.getReader();
  const first = await reader?.read();

  expect(new TextDecoder().decode(first?.value as Uint8Array)).toBe('a few bytes');
  await reader?.cancel();
});

test('a slow client slows the service down, and nothing is buffered on disk', async () => {
  let written = 0;
  let blocked = (): void => undefined;
  const serviceBlocked = new Promise<void>((resolve) => (blocked = resolve));
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'video/mp4' });
    const block = Buffer.alloc(256 * 1024);
    const write = (): void => {
      while (written < 200 * mebibyte) {
        written += block.length;
        if (!res.write(block)) {
          const timer = setTimeout(blocked, 500);
          res.once('drain', () => {
            clearTimeout(timer);
            write();
          });
          return;
        }
      }
      res.end();
    };
    write();
  });
  const client = request(streamUrl());
  client.end();
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  await firstChunk(response);

  await serviceBlocked;

  expect(written).toBeLessThan(50 * mebibyte);
  expect(spooledFiles()).toEqual([]);
  client.destroy();
});

test.each([
  ['while it streams', true],
  ['before the first byte', false],
])('a client that goes away %s ends the request at the service', async (_name, streaming) => {
  const arrived = new Promise<IncomingMessage>((resolve) => {
    gateway.videoDl.respondWith((req, res) => {
      if (streaming) {
        res.writeHead(200, { 'Content-Type': 'video/mp4' });
        res.write('first bytes');
      }
      resolve(req);
    });
  });
  const client = request(streamUrl());
  client.on('error', () => undefined); // its own abort
  client.end();
  const upstream = await arrived;
  if (streaming) await once(client, 'response');
  const closed = once(upstream.socket, 'close');

  client.destroy();

  await closed;
});

test('an upload reaches the service while it is being sent, and is not buffered on disk', async () => {
  const arrived = new Promise<IncomingMessage>((resolve) => {
    gateway.bgRemoval.respondWith((req, res) => {
      req.once('data', () => {
        resolve(req);
      });
      req.on('end', () => res.end('done'));
    });
  });
  const client = request(`${gateway.url}/api/remove-background`, {
    method: 'POST',
    headers: { 'Content-Length': String(10 * mebibyte) },
  });
  client.write(Buffer.alloc(5 * mebibyte));

  const upstream = await arrived;

  expect(upstream.complete).toBe(false);
  expect(spooledFiles()).toEqual([]);
  client.end(Buffer.alloc(5 * mebibyte));
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  response.resume();
  await once(response, 'end');
});

test('a rejection before the body is sent reaches the client', async () => {
  gateway.bgRemoval.respondWith((_req, res) => {
    res.writeHead(429, { 'Content-Type': 'application/problem+json', 'Retry-After': '7' });
    res.end('{"code":"rate_limited"}');
  });

  for (let attempt = 0; attempt < 10; attempt += 1) {
    const response = await fetch(`${gateway.url}/api/remove-background`, {
      method: 'POST',
      body: new Uint8Array(8 * mebibyte),
    });
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('7');
    await response.text();
  }
});

test('an interrupted upload ends the request at the service', async () => {
  const aborted = new Promise<void>((resolve) => {
    gateway.bgRemoval.respondWith((req) => {
      req.resume();
      req.once('error', () => {
        resolve();
      });
    });
  });
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(
    'POST /api/remove-background HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nonly a part',
  );
  while (gateway.bgRemoval.requests.length === 0) await delay(5);

  socket.destroy();

  await aborted;
});
