import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';
import { sendRaw } from './support/raw-client.js';

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

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

async function echoOf(path: string, init?: RequestInit): Promise<Echo> {
  const response = await fetch(`${gateway.url}${path}`, init);
  expect(response.status).toBe(200);
  return (await response.json()) as Echo;
}

test.each([
  [
    '/api/info?url=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d',
    '/api/info?url=https%3A%2F%2Fexample.org%2Fa%3Fb%3Dc%26d',
  ],
  ['/api/stream?url=x', '/api/stream?url=x'],
  ['/api/stream/video?url=x&fmt=mp4-1080', '/api/stream/video?url=x&fmt=mp4-1080'],
  ['/video-dl/api/info?url=x', '/api/info?url=x'],
  ['/video-dl/api/stream?url=x', '/api/stream?url=x'],
  ['/video-dl/api/stream/video?url=x', '/api/stream/video?url=x'],
  ['/video-dl/api/health', '/api/health'],
  ['/video-dl/api/unknown', '/api/unknown'],
])('%s reaches video-dl as %s', async (path, seen) => {
  const echo = await echoOf(path);

  expect(echo.url).toBe(seen);
  expect(gateway.videoDl.requests).toHaveLength(1);
  expect(gateway.bgRemoval.requests).toHaveLength(0);
});

test.each([
  ['/api/remove-background', '/api/remove-background'],
  ['/bg-removal/api/remove-background', '/api/remove-background'],
  ['/bg-removal/api/health', '/api/health'],
  ['/bg-removal/api/unknown', '/api/unknown'],
])('%s reaches bg-removal as %s', async (path, seen) => {
  const echo = await echoOf(path, { method: 'POST', body: 'picture' });

  expect(echo).toMatchObject({ url: seen, method: 'POST' });
  expect(gateway.bgRemoval.requests).toHaveLength(1);
  expect(gateway.videoDl.requests).toHaveLength(0);
});

test('the gateway uses HTTP/1.1 with keep-alive connections to the services', async () => {
  // One client connection uses one nginx worker, which has its own idle connections.
  await sendRaw(
    gateway.port,
    'GET /api/info?url=1 HTTP/1.1\r\nHost: x\r\n\r\nGET /api/info?url=2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  );

  const [first, second] = gateway.videoDl.requests;
  expect(first?.httpVersion).toBe('1.1');
  expect(second?.socket).toBe(first?.socket);
});

test('HEAD reaches the service as HEAD and has no body', async () => {
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200, { 'Content-Type': 'video/mp4', 'X-Content-Duration': '12' });
    res.end();
  });

  const response = await fetch(`${gateway.url}/api/stream/video?url=x`, { method: 'HEAD' });

  expect(gateway.videoDl.requests[0]?.method).toBe('HEAD');
  expect(response.headers.get('x-content-duration')).toBe('12');
  expect(await response.text()).toBe('');
});

test('the client cannot choose the IP address it is counted by', async () => {
  const echo = await echoOf('/api/info?url=x', {
    headers: {
      'X-Forwarded-For': '203.0.113.9, 198.51.100.1',
      'X-Real-IP': '203.0.113.9',
      Forwarded: 'for=203.0.113.9',
    },
  });

  expect(echo.headers['x-forwarded-for']).toBe('127.0.0.1');
  expect(echo.headers).not.toHaveProperty('x-real-ip');
  expect(echo.headers).not.toHaveProperty('forwarded');
});

test('a well-formed request id is passed to the service and back', async () => {
  gateway.videoDl.respondWith((req, res) => {
    res.setHeader('X-Request-Id', String(req.headers['x-request-id']));
    res.end(req.headers['x-request-id']);
  });

  const response = await fetch(`${gateway.url}/api/info?url=x`, {
    headers: { 'X-Request-Id': 'trace_42-a' },
  });

  expect(await response.text()).toBe('trace_42-a');
  expect(response.headers.get('x-request-id')).toBe('trace_42-a');
});

test.each(['has spaces', 'a'.repeat(65), '"},{"', ''])(
  'the malformed request id %j is replaced',
  async (id) => {
    const echo = await echoOf('/api/info?url=x', { headers: { 'X-Request-Id': id } });

    expect(echo.headers['x-request-id']).toMatch(/^[0-9a-f]{32}$/);
  },
);

test('an HTTP/1.0 client without a Host header is served', async () => {
  const { status, text } = await sendRaw(gateway.port, 'GET /api/info?url=x HTTP/1.0\r\n\r\n');

  expect(status).toBe(200);
  expect(text).toContain('"url":"/api/info?url=x"');
});

test("a service's own problem passes unchanged", async () => {
  const problem =
    '{"type":"/docs/errors#geo-blocked","status":451,"code":"geo_blocked","requestId":"from-the-service"}';
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(451, { 'Content-Type': 'application/problem+json', 'Content-Length': problem.length });
    res.end(problem);
  });

  const response = await fetch(`${gateway.url}/api/stream?url=x`);

  expect(response.status).toBe(451);
  expect(await response.text()).toBe(problem);
});

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', '<texts/de.json>; rel=preload; as=fetch; crossorigin'],
  ['en-GB,de;q=0.9', null],
  ['del', null],
  ['sv', null],
])('the page names the texts for a browser in %s', async (language, link) => {
  const linkOf = async (path: string) =>
    (await fetch(`${gateway.url}${path}`, { headers: { 'Accept-Language': language } })).headers.get('link');
  expect(await linkOf('/')).toBe(link);
  expect(await linkOf('/js/main.js')).toBeNull();
});

test('the page is served with a policy that blocks external scripts', async () => {
  const response = await fetch(`${gateway.url}/`);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('text/html');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('server')).toBe('nginx');
  expect(policy).toMatch(/img-src 'self' blob: data: https:;/);
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test("services' responses have the security headers for data", async () => {
  const response = await fetch(`${gateway.url}/api/info?url=x`);

  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
});

test('/docs redirects to the documentation on the requested host', async () => {
  const response = await fetch(`${gateway.url}/docs`, { redirect: 'manual' });

  expect(response.status).toBe(308);
  expect(response.headers.get('location')).toBe('/docs/');
});

describe('below a base path', () => {
  let gateway: TestGateway;

  beforeAll(async () => {
    gateway = await startGateway({ env: { BASE_PATH: '/tools/media', VIDEO_REQUESTS_PER_MINUTE: '0' } });
  });

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
  });

  const askedFor = async (path: string) =>
    ((await (await fetch(gateway.url + path)).json()) as { url: string }).url;

  test('serves everything below the base path too, whether or not the proxy in front strips it', async () => {
    for (const prefix of ['', '/tools/media']) {
      expect(await askedFor(`${prefix}/api/info?url=a%2Fb`)).toBe('/api/info?url=a%2Fb');
      expect(await askedFor(`${prefix}/video-dl/api/info?url=x`)).toBe('/api/info?url=x');
      expect(await (await fetch(`${gateway.url}${prefix}/openapi.json`)).json()).toMatchObject({
        servers: [{ url: `${gateway.url}/tools/media` }],
      });
      expect((await fetch(`${gateway.url}${prefix}/`)).headers.get('content-type')).toContain('text/html');
    }
  });

  test.each([
    ['/tools/media', '/tools/media/'],
    ['/tools/media/docs', '/tools/media/docs/'],
  ])('%s leads to %s', async (path, location) => {
    const response = await fetch(gateway.url + path, { redirect: 'manual' });
    expect(response.headers.get('location')).toBe(location);
  });

  test('the type of a problem includes it', async () => {
    const problem = await expectProblem(await fetch(`${gateway.url}/tools/media/nope`), 404, 'not_found');
    expect(problem.type).toBe('/tools/media/docs/errors#not-found');
  });

  test('internal locations are not reachable there either', async () => {
    for (const path of [
      '/internal/health/video-dl',
      '/internal/preflight',
      '//internal/preflight',
      '/%69nternal/preflight',
    ]) {
      await expectProblem(await fetch(`${gateway.url}/tools/media${path}`), 404, 'not_found');
      await expectProblem(await fetch(`${gateway.url}${path}`), 404, 'not_found');
    }
  });
});
