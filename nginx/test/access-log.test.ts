import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type TestGateway } from './support/gateway.js';

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
});

async function logLine(id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const line = gateway.accessLog().find(({ requestId }) => requestId === id);
    if (line !== undefined) return line;
    await delay(10);
  }
}

test('has a line for each request with its id and without its query', async () => {
  gateway.videoDl.respondWith((_req, res) => res.end('{}'));
  await fetch(`${gateway.url}/api/info?url=https%3A%2F%2Fexample.org%2F%3Ftoken%3Dsecret`, {
    headers: {
      'X-Request-Id': 'line-1',
      Referer: 'https://example.org/?token=secret',
      'User-Agent': 'a "quoted" agent',
    },
  });

  const line = await logLine('line-1');

  expect(line).toMatchObject({
    service: 'gateway',
    client: '127.0.0.1',
    method: 'GET',
    path: '/api/info',
    status: 200,
    outcome: 'ok',
    upstreamStatus: '200',
    userAgent: 'a "quoted" agent',
  });
  expect(typeof line.durationSeconds).toBe('number');
  expect(JSON.stringify(line)).not.toContain('secret');
});

test('records that a request was limited', async () => {
  for (let count = 0; count < 11; count += 1) await fetch(`${gateway.url}/api/info?url=x`);
  await fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Request-Id': 'limited-1' } });

  expect(await logLine('limited-1')).toMatchObject({
    status: 429,
    limited: expect.stringContaining('REJECTED') as string,
    path: '/api/info',
  });
});

describe('records how a stream ended', () => {
  const stream = async (id: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/api/stream?url=x`, { headers: { 'X-Request-Id': id, ...headers } });

  test.each([
    ['truncated', 'with', { 'Content-Length': '1000000' }],
    ['unknown', 'without', {}],
  ])('%s: the service cut off a response %s a stated length', async (outcome, _with, headers) => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, headers);
      res.write(Buffer.alloc(100_000), () => res.socket?.resetAndDestroy());
    });

    const response = await stream('cut-1');
    await expect(response.arrayBuffer()).rejects.toThrow();

    expect(await logLine('cut-1')).toMatchObject({ status: 200, outcome });
  });

  test('aborted: the client left', async () => {
    gateway.videoDl.respondWith((_req, res) => void res.writeHead(200).write('first bytes'));
    const abort = new AbortController();
    await fetch(`${gateway.url}/api/stream?url=x`, {
      headers: { 'X-Request-Id': 'left-1' },
      signal: abort.signal,
    });
    abort.abort();

    expect(await logLine('left-1')).toMatchObject({ outcome: 'aborted' });
  });

  test.each([
    ['ok', 206, 'ok-206'],
    ['ok', 304, 'ok-304'],
    ['failed', 502, 'failed-502'],
  ])('%s: status %i', async (outcome, status, id) => {
    gateway.videoDl.respondWith((_req, res) => res.writeHead(status, { 'Content-Length': '0' }).end());
    await (await stream(id)).arrayBuffer();

    expect(await logLine(id)).toMatchObject({ status, outcome });
  });

  test('ok: HEAD, which has no body', async () => {
    gateway.videoDl.respondWith((_req, res) => res.writeHead(200, { 'Content-Length': '1000000' }).end());
    await fetch(`${gateway.url}/api/stream?url=x`, { method: 'HEAD', headers: { 'X-Request-Id': 'head-1' } });

    expect(await logLine('head-1')).toMatchObject({ status: 200, outcome: 'ok' });
  });
});

test('has a line for a health check only if it failed or has a request id', async () => {
  const health = async (id?: string) =>
    fetch(`${gateway.url}/video-dl/api/health`, { headers: id === undefined ? {} : { 'X-Request-Id': id } });
  await health();
  await health('traced-1');
  gateway.videoDl.respondWith((_req, res) => res.writeHead(503).end());
  await health();
  await health('last-1');

  await logLine('last-1');
  expect(gateway.accessLog().map(({ status, outcome }) => ({ status, outcome }))).toEqual([
    { status: 200, outcome: 'ok' },
    { status: 503, outcome: 'failed' },
    { status: 503, outcome: 'failed' },
  ]);
});
