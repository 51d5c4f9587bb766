import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { json } from './support/fake-service.js';
import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';
import { sendRaw } from './support/raw-client.js';

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

test.each([
  '/nope',
  '/api',
  '/api/',
  '/api/infos',
  '/api/stream/audio',
  '/video-dl',
  '/video-dl/api',
  '/bg-removal/api',
  '/metrics',
  '/livez',
  '/.git/config',
])('%s is an unknown path', async (path) => {
  await expectProblem(await fetch(`${gateway.url}${path}`), 404, 'not_found');
});

test('internal locations are not reachable', async () => {
  await expectProblem(await fetch(`${gateway.url}/internal/health/video-dl`), 404, 'not_found');
  await expectProblem(await fetch(`${gateway.url}/internal/problem/400`), 404, 'not_found');
});

test("an unknown path's problem has the request id of the client", async () => {
  const response = await fetch(`${gateway.url}/nope`, { headers: { 'X-Request-Id': 'mine-1' } });

  expect((await expectProblem(response, 404, 'not_found')).requestId).toBe('mine-1');
});

test.each(['/', '/api/health'])('POST %s lists the allowed methods', async (path) => {
  const response = await fetch(`${gateway.url}${path}`, { method: 'POST' });

  await expectProblem(response, 405, 'method_not_allowed');
  expect(response.headers.get('allow')).toBe('GET, HEAD');
});

test.each(['TRACE', 'UNHEARD-OF'])("for the method %s, lists the path's allowed method", async (method) => {
  const answer = await sendRaw(
    gateway.port,
    `${method} /api/remove-background HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );

  expect(answer.status).toBe(405);
  expect(answer.text).toMatch(/^Allow: POST\r$/m);
  expect(answer.text).toContain('"code":"method_not_allowed"');
});

test('HEAD of an unknown path has the headers of the problem and no body', async () => {
  const response = await fetch(`${gateway.url}/nope`, { method: 'HEAD' });

  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.text()).toBe('');

  const malformed = 'HEAD no-path HTTP/1.1\r\nHost: x\r\n\r\n';
  expect((await sendRaw(gateway.port, malformed)).status).toBe(400);
});

test.each([
  ['an invalid request line', 'GARBAGE\r\n\r\n'],
  ['a URL that is too long', `GET /api/info?url=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ['headers that are too long', `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`],
  ['HTTP/1.1 without a Host', 'GET / HTTP/1.1\r\n\r\n'],
  ['another version of HTTP', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n'],
  ...['identity', 'gzip, chunked'].map((coding) => [
    `the transfer coding ${coding}`,
    `POST /api/remove-background HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n`,
  ]),
])('%s is an invalid request', async (_name, bytes) => {
  const answer = await sendRaw(gateway.port, bytes);

  expect(answer.status).toBe(400);
  expect(answer.text).toContain('Content-Type: application/problem+json');
  expect(answer.text).toContain('"code":"invalid_request"');
  expect(answer.text).toContain('"requestId":"');
});

test.each([
  ['/css/base.css', { Range: 'bytes=99999999-' }, 416, 'range_not_satisfiable'],
  ['/css/base.css', { 'If-Match': '"x"' }, 412, 'precondition_failed'],
  ['/docs/', { 'If-Unmodified-Since': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 412, 'precondition_failed'],
  ['/api/health', { 'If-Match': '"x"' }, 412, 'precondition_failed'],
])('%s with %o is a %i problem', async (path, headers, status, code) => {
  for (const service of [gateway.videoDl, gateway.bgRemoval])
    service.respondWith(json(200, { status: 'ok', checks: {} }));
  const response = await fetch(`${gateway.url}${path}`, { headers });
  await expectProblem(response, status, code);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('the longest allowed URL reaches the service, percent-encoded', async () => {
  const url = `https://example.org/${'ü'.repeat(1014)}`;

  const response = await fetch(`${gateway.url}/api/info?url=${encodeURIComponent(url)}`);

  expect(response.status).toBe(200);
});

test('an upload passes up to the limit and is rejected one byte above, before it is sent', async () => {
  const limit = 16 * 1024 * 1024;
  gateway.bgRemoval.respondWith((req, res) => {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => (bytes += chunk.length));
    req.on('end', () => res.end(String(bytes)));
  });

  const atLimit = await fetch(`${gateway.url}/api/remove-background`, {
    method: 'POST',
    body: new Uint8Array(limit),
  });
  expect(await atLimit.text()).toBe(String(limit));

  const upload = request(`${gateway.url}/api/remove-background`, {
    method: 'POST',
    headers: { 'Content-Length': String(limit + 1) },
  });
  upload.flushHeaders();
  const [above] = (await once(upload, 'response')) as [IncomingMessage];
  expect(above.statusCode).toBe(413);
  expect(await text(above)).toContain('"code":"file_too_large"');
  upload.destroy();
  expect(gateway.bgRemoval.requests).toHaveLength(1);
});

test('a service that is down gives a 502, and works again once it is back', async () => {
  await gateway.videoDl.close();

  for (const path of ['/api/info?url=x', '//api/%69nfo?url=x', '/video-dl/api/health']) {
    const problem = await expectProblem(await fetch(`${gateway.url}${path}`), 502, 'service_unavailable');
    expect(problem.retryable).toBe(true);
    expect(JSON.stringify(problem)).not.toContain('127.0.0.1');
  }

  await gateway.videoDl.reset();
  expect((await fetch(`${gateway.url}/api/info?url=x`)).status).toBe(200);
});

test('a service that crashes before its first byte gives a 502', async () => {
  gateway.videoDl.respondWith((_req, res) => res.socket?.resetAndDestroy());

  await expectProblem(await fetch(`${gateway.url}/api/stream?url=x`), 502, 'service_unavailable');
});

test('a request that a service dropped is not sent again', async () => {
  gateway.bgRemoval.respondWith((_req, res) => res.socket?.destroy());

  await fetch(`${gateway.url}/api/remove-background`, { method: 'POST', body: 'picture' });

  expect(gateway.bgRemoval.requests).toHaveLength(1);
});

test('a service that never responds gives a 504', async () => {
  await using impatient = await startGateway({ variables: { GATEWAY_READ_TIMEOUT: '100ms' } });
  impatient.videoDl.respondWith(() => undefined);

  const response = await fetch(`${impatient.url}/api/stream?url=x`);

  await expectProblem(response, 504, 'timeout');
  expect(impatient.videoDl.requests).toHaveLength(1);
});

test('links of problems start with the base path', async () => {
  await using gateway = await startGateway({ env: { BASE_PATH: '/media' } });

  const problem = await expectProblem(await fetch(`${gateway.url}/nope`), 404, 'not_found');
  await gateway.videoDl.close();
  const down = await expectProblem(await fetch(`${gateway.url}/api/info?url=x`), 502, 'service_unavailable');

  expect(problem.type).toBe('/media/docs/errors#not-found');
  expect(problem.detail).toContain('See /media/docs for');
  expect(down.detail).toContain('; /media/api/health shows');
});

test('every error status of nginx is a problem with a documented code that blames the right side', async () => {
  // All but 408 and 499, for which nginx sends nothing, and those of modules that we don't use.
  const statuses = [
    400, 401, 403, 404, 405, 411, 412, 413, 414, 416, 421, 429, 431, 494, 495, 496, 497, 500, 501, 502, 503,
    504, 505,
  ];
  const locations = statuses.map((status) => `location = /gives/${status} { return ${status}; }`);
  await using gateway = await startGateway({ enabled: { 'server/gives.conf': locations.join('\n') } });

  for (const status of statuses) {
    const response = await fetch(`${gateway.url}/gives/${status}`);
    const { code } = (await response.clone().json()) as { code: string };
    await expectProblem(response, response.status, code);
    expect({ status, isClient: response.status < 500 }).toEqual({
      status,
      isClient: status < 500 || status === 501 || status === 505,
    });
  }
});
