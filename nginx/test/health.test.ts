import { json } from './support/fake-service.js';
import { startGateway, type TestGateway } from './support/gateway.js';
import { sendRaw } from './support/raw-client.js';

const report = (status: string, extra: object = {}) => ({
  status,
  version: '0.1.0',
  uptimeSeconds: 5,
  checks: { engine: { status } },
  ...extra,
});

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ env: { VIDEO_REQUESTS_PER_MINUTE: '0' } });
});

beforeEach(async () => {
  await gateway.resetServices();
  gateway.videoDl.respondWith(json(200, report('ok')));
  gateway.bgRemoval.respondWith(json(200, report('ok')));
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

async function health(): Promise<{ status: number; retryAfter: string | null; body: unknown }> {
  const response = await fetch(`${gateway.url}/api/health`);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
}

test('is 200 with both reports when both services are healthy', async () => {
  expect(await health()).toEqual({
    status: 200,
    retryAfter: null,
    body: {
      status: 'ok',
      limits: { videoRequestsPerMinute: 0, streamsPerClient: 4, lookupsPerClient: 8, imagesPerClient: 5 },
      features: { accessKeys: false },
      services: { 'video-dl': report('ok'), 'bg-removal': report('ok') },
    },
  });
  expect(gateway.videoDl.requests[0]?.url).toBe('/api/health');
  expect(gateway.videoDl.requests[0]?.headers['x-request-id']).toMatch(/^\w{32}$/);
});

test('reports the limits and features that the operator has set', async () => {
  const env = {
    VIDEO_REQUESTS_PER_MINUTE: '2',
    STREAMS_PER_CLIENT: '1',
    IMAGES_PER_CLIENT: '7',
    API_KEYS_FILE: '/dev/null',
  };
  await using other = await startGateway({ env });
  const response = await fetch(`${other.url}/api/health`);
  expect(await response.json()).toMatchObject({
    limits: { videoRequestsPerMinute: 2, streamsPerClient: 1, lookupsPerClient: 2, imagesPerClient: 7 },
    features: { accessKeys: true },
  });
});

test('depends on no header of the client', async () => {
  const { text } = await sendRaw(
    gateway.port,
    'GET /api/health HTTP/1.1\r\nHost: x\r\nIf-None-Match: "x"\r\nX-Broken: \x01\r\nConnection: close\r\n\r\n',
  );

  expect(text).toContain('{"status":"ok"');
  expect(gateway.videoDl.requests[0]?.headers).not.toHaveProperty('if-none-match');
});

test('with only one service, ignores the other one, which has no routes', async () => {
  await using alone = await startGateway({ env: { SERVICES: 'video-dl' } });
  alone.videoDl.respondWith(json(200, report('ok')));

  const response = await fetch(`${alone.url}/api/health`);

  expect(response.status).toBe(200);
  const { services } = (await response.json()) as { services: unknown };
  expect(services).toEqual({ 'video-dl': report('ok') });
  expect((await fetch(`${alone.url}/api/info?url=x`)).status).toBe(200);
  const image = { method: 'POST', body: new Uint8Array(100_000) };
  expect((await fetch(`${alone.url}/api/remove-background`, image)).status).toBe(404);
  await expect(startGateway({ env: { SERVICES: 'videos' } })).rejects.toThrow(/SERVICES must be video-dl/);
});

test('is degraded, still 200, when one service is', async () => {
  gateway.bgRemoval.respondWith(json(200, report('degraded')));

  expect(await health()).toMatchObject({ status: 200, body: { status: 'degraded' } });
});

test('is 503 and shows the report when a service is starting', async () => {
  gateway.bgRemoval.respondWith(json(503, report('starting')));

  expect(await health()).toMatchObject({
    status: 503,
    retryAfter: '5',
    body: { status: 'error', services: { 'video-dl': report('ok'), 'bg-removal': report('starting') } },
  });
});

test('is 503 and says which service is down', async () => {
  await gateway.videoDl.close();

  expect(await health()).toMatchObject({
    status: 503,
    body: { status: 'error', services: { 'video-dl': { status: 'down' }, 'bg-removal': report('ok') } },
  });
});

test('reports a service as down if its response is not a report', async () => {
  gateway.videoDl.respondWith((_req, res) => res.end('<html>something else</html>'));
  gateway.bgRemoval.respondWith(json(404, { status: 404 }));

  expect(await health()).toMatchObject({
    status: 503,
    body: { services: { 'video-dl': { status: 'down' }, 'bg-removal': { status: 'down' } } },
  });
});

test('reports a service as down if it accepts connections but never responds', async () => {
  gateway.videoDl.respondWith(() => undefined);

  expect(await health()).toMatchObject({
    status: 503,
    body: { services: { 'video-dl': { status: 'down' }, 'bg-removal': { status: 'ok' } } },
  });
});

test('accepts reports larger than a memory page', async () => {
  gateway.videoDl.respondWith(json(200, report('ok', { note: 'x'.repeat(20_000) })));

  expect(await health()).toMatchObject({ status: 200 });
});

test('HEAD has the status and no body', async () => {
  const response = await fetch(`${gateway.url}/api/health`, { method: 'HEAD' });

  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
  expect(await response.text()).toBe('');
  expect(gateway.videoDl.requests[0]?.method).toBe('GET');
});
