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

/** A new request id. */
let requests = 0;
const newId = () => `request-${(requests += 1)}`;

async function logLine(id: string, from = gateway): Promise<Record<string, unknown>> {
  for (;;) {
    const line = from.accessLog().find(({ requestId }) => requestId === id);
    if (line !== undefined) return line;
    await delay(10);
  }
}

test('has a line for each request with its id and without its query', async () => {
  const id = newId();
  gateway.videoDl.respondWith((_req, res) => res.end('{}'));
  await fetch(`${gateway.url}/api/info?url=https%3A%2F%2Fexample.org%2F%3Ftoken%3Dsecret`, {
    headers: {
      'X-Request-Id': id,
      Referer: 'https://example.org/?token=secret',
      'User-Agent': 'a "quoted" agent\xff',
    },
  });

  const line = await logLine(id);

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
  // The same names, units and times as in the services' logs.
  expect(line).toMatchObject({ level: 'info', msg: 'request', route: '/api/info', traceId: '' });
  expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(typeof line.durationMs).toBe('number');
  expect(String(line.upstreamHeaderMs)).toMatch(/^\d+$/);
  expect(JSON.stringify(line)).not.toContain('secret');
});

test('logs a valid trace of the client and passes it on, and no other', async () => {
  const traceId = 'a'.repeat(32);
  const traced = async (traceparent: string) => {
    const id = newId();
    gateway.videoDl.respondWith((req, res) => res.end(req.headers.traceparent ?? 'none'));
    const headers = { 'X-Request-Id': id, Traceparent: traceparent };
    const response = await fetch(`${gateway.url}/api/info?url=x`, { headers });
    return { passedOn: await response.text(), logged: (await logLine(id)).traceId };
  };
  const valid = `00-${traceId}-${'b'.repeat(16)}-01`;
  expect(await traced(valid)).toEqual({ passedOn: valid, logged: traceId });
  expect(await traced(`00-${traceId}-short-01`)).toEqual({ passedOn: 'none', logged: '' });
});

test('records that a request was limited', async () => {
  await using gateway = await startGateway();
  for (let count = 0; count < 11; count += 1) await fetch(`${gateway.url}/api/info?url=x`);
  await fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Request-Id': 'limited-1' } });

  expect(await logLine('limited-1', gateway)).toMatchObject({
    status: 429,
    limited: expect.stringContaining('REJECTED') as string,
    path: '/api/info',
  });
});

describe('records how a stream ended', () => {
  const stream = async (id: string) =>
    fetch(`${gateway.url}/api/stream?url=x`, { headers: { 'X-Request-Id': id } });

  test.each([
    ['truncated', 'with', { 'Content-Length': '1000000' }],
    ['unknown', 'without', {}],
  ])('%s: the service cut off a response %s a stated length', async (outcome, _with, headers) => {
    gateway.videoDl.respondWith((_req, res) => {
      res.writeHead(200, headers);
      res.write(Buffer.alloc(100_000), () => res.socket?.resetAndDestroy());
    });

    const id = newId();
    const response = await stream(id);
    await expect(response.arrayBuffer()).rejects.toThrow();

    expect(await logLine(id)).toMatchObject({ status: 200, outcome });
  });

  test('aborted: the client left', async () => {
    gateway.videoDl.respondWith((_req, res) => void res.writeHead(200).write('first bytes'));
    const abort = new AbortController();
    const id = newId();
    await fetch(`${gateway.url}/api/stream?url=x`, {
      headers: { 'X-Request-Id': id },
      signal: abort.signal,
    });
    abort.abort();

    expect(await logLine(id)).toMatchObject({ outcome: 'aborted' });
  });

  test.each([
    ['ok', 206],
    ['ok', 304],
    ['failed', 502],
  ])('%s: status %i', async (outcome, status) => {
    const id = newId();
    gateway.videoDl.respondWith((_req, res) => res.writeHead(status, { 'Content-Length': '0' }).end());
    await (await stream(id)).arrayBuffer();

    expect(await logLine(id)).toMatchObject({ status, outcome });
  });

  test('ok: HEAD, which has no body', async () => {
    gateway.videoDl.respondWith((_req, res) => res.writeHead(200, { 'Content-Length': '1000000' }).end());
    const id = newId();
    await fetch(`${gateway.url}/api/stream?url=x`, { method: 'HEAD', headers: { 'X-Request-Id': id } });

    expect(await logLine(id)).toMatchObject({ status: 200, outcome: 'ok' });
  });
});

test('has a line for a health check only if it failed or has a request id', async () => {
  const health = async (id?: string) =>
    fetch(`${gateway.url}/video-dl/api/health`, { headers: id === undefined ? {} : { 'X-Request-Id': id } });
  const linesBefore = gateway.accessLog().length;
  await health();
  await health(newId());
  gateway.videoDl.respondWith((_req, res) => res.writeHead(503).end());
  await health();
  const last = newId();
  await health(last);

  await logLine(last);
  const lines = gateway.accessLog().slice(linesBefore);
  expect(lines.map(({ status, outcome }) => ({ status, outcome }))).toEqual([
    { status: 200, outcome: 'ok' },
    { status: 503, outcome: 'failed' },
    { status: 503, outcome: 'failed' },
  ]);
});
