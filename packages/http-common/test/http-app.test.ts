import { once } from 'node:events';
import { connect } from 'node:net';
import { spawn } from 'node:child_process';
import { contentDisposition, codesOf, createMetrics, problemType, sharedErrors } from '../src/index.js';
import { rawRequest, startTestService, type TestService } from './support/http.js';

let test: TestService;
// One per test: a request is logged after its response, so a shared log would still get lines of the last test.
beforeEach(async () => (test = await startTestService({ graceSeconds: 0 })));
afterEach(async () => test.service.stop());

const get = async (path: string, init?: RequestInit): Promise<Response> =>
  fetch(`${test.service.url}${path}`, init);

describe('a response', () => {
  it('carries the stages in Server-Timing', async () => {
    const response = await get('/api/hello');
    expect(await response.json()).toEqual({ hello: 'world' });
    expect(response.headers.get('server-timing')).toMatch(/^think;dur=\d+\.\d, total;dur=\d+\.\d$/);
  });

  it('keeps a well-formed request id and replaces any other', async () => {
    const kept = await get('/api/hello', { headers: { 'X-Request-Id': 'abc_DEF-123' } });
    expect(kept.headers.get('x-request-id')).toBe('abc_DEF-123');
    for (const bad of ['a b', 'x'.repeat(65), '"><script>']) {
      const replaced = await get('/api/hello', { headers: { 'X-Request-Id': bad } });
      expect(replaced.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('is logged in one line with id, route, status, outcome, stages and notes', async () => {
    const logged = test.nextRequestLog();
    await (await get('/api/hello?secret=1', { headers: { 'X-Request-Id': 'log-me' } })).text();
    const line = await logged;
    expect(line).toMatchObject({
      requestId: 'log-me',
      method: 'GET',
      route: '/api/hello',
      status: 200,
      outcome: 'ok',
      host: 'example.com',
      stages: { think: expect.any(Number) as number },
    });
    expect(JSON.stringify(line)).not.toContain('secret');
  });

  it('is logged at debug level for a successful health check', async () => {
    const logged = test.nextRequestLog();
    await (await get('/api/health')).text();
    expect(await logged).toMatchObject({ route: '/api/health', status: 200, level: 20 });
  });

  it('to HEAD has the headers of GET and no body', async () => {
    const response = await get('/api/hello', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('17');
    expect(await response.text()).toBe('');
  });

  it('stops counting as in flight when its pipelined connection closes before its turn', async () => {
    const inFlight = async (): Promise<string | undefined> => {
      const text = await (await fetch(`${test.service.metricsUrl}/metrics`)).text();
      return /^media_http_requests_in_flight(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1];
    };
    expect(await inFlight()).toBe('0');
    const { hostname, port } = new URL(test.service.url);
    const client = connect(Number(port), hostname);
    client.write('GET /api/endless HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20));
    await once(client, 'data');
    expect(await inFlight()).toBe('20');
    client.destroy();
    while ((await inFlight()) !== '0') await new Promise((resolve) => setImmediate(resolve));
  });

  it('counts requests with bounded labels', async () => {
    await get('/no/such/path/1');
    await get('/no/such/path/2');
    const text = await (await fetch(`${test.service.metricsUrl}/metrics`)).text();
    expect(text).toMatch(
      /media_http_requests_total\{route="unmatched",method="GET",status_class="4xx",code="not_found"/,
    );
    expect(text).not.toContain('/no/such/path');
  });
});

describe('an error', () => {
  it.each([
    ['/nowhere', 'GET', 404, 'not_found'],
    ['/api/hello/', 'GET', 404, 'not_found'],
    ['/api/hello', 'DELETE', 405, 'method_not_allowed'],
    ['/api/busy', 'GET', 503, 'overloaded'],
    ['/api/bug', 'GET', 500, 'internal_error'],
    ['/%ff', 'GET', 404, 'not_found'],
  ])('on %s %s is a %i problem with code %s', async (path, method, status, code) => {
    const response = await get(path, { method, headers: { 'X-Request-Id': 'the-id' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      type: `/docs/errors#${code.replaceAll('_', '-')}`,
      title: expect.any(String) as string,
      status,
      detail: expect.any(String) as string,
      code,
      retryable: expect.any(Boolean) as boolean,
      requestId: 'the-id',
    });
  });

  it('names the documentation below the base path', async () => {
    const below = await startTestService({ docsBaseUrl: '/media' });
    try {
      expect(await (await fetch(`${below.service.url}/nowhere`)).json()).toMatchObject({
        type: '/media/docs/errors#not-found',
        detail: expect.stringContaining('See /media/docs for') as string,
      });
    } finally {
      await below.service.stop();
    }
  });

  it('for a wrong method lists the allowed ones', async () => {
    expect((await get('/api/hello', { method: 'POST' })).headers.get('allow')).toBe('GET, HEAD');
  });

  it('with 503 has Retry-After in whole seconds', async () => {
    expect((await get('/api/busy')).headers.get('retry-after')).toBe('8');
  });

  it('that is unexpected reveals no internals', async () => {
    expect(await (await get('/api/bug')).text()).not.toMatch(/hunter2|secret/);
    expect(JSON.stringify(test.log)).toContain('hunter2');
  });

  it.each(['1.1', '1.0'])('after the first byte resets the connection (HTTP/%s)', async (version) => {
    const logged = test.nextRequestLog();
    const { text, reset } = await rawRequest(
      test.service.url,
      `GET /api/cut HTTP/${version}\r\nHost: test\r\nConnection: close\r\n\r\n`,
      test.cut,
    );
    expect(text).toContain('first part');
    expect(reset).toBe(true);
    expect(text).not.toContain('0\r\n\r\n');
    expect(await logged).toMatchObject({
      outcome: 'truncated',
      code: 'timeout',
      reason: expect.stringMatching(/\w{3}/) as string,
    });
  });
});

describe('a client that leaves', () => {
  it('aborts the signal of its request, which is logged as aborted', async () => {
    const logged = test.nextRequestLog();
    const controller = new AbortController();
    const response = await get('/api/endless', { signal: controller.signal });
    controller.abort();
    await expect(response.text()).rejects.toThrow();
    expect(await logged).toMatchObject({ route: '/api/endless', outcome: 'aborted' });
  });

  it('in the middle of its upload is logged as aborted; a malformed upload as failed, with its id', async () => {
    const head = 'POST /api/upload HTTP/1.1\r\nHost: x\r\n';
    const { hostname, port } = new URL(test.service.url);
    const left = test.nextRequestLog();
    connect(Number(port), hostname).end(`${head}Content-Length: 9\r\n\r\nhalf`);
    expect(await left).toMatchObject({ route: '/api/upload', outcome: 'aborted' });

    const broken = test.nextRequestLog();
    const { text } = await rawRequest(
      test.service.url,
      `${head}X-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n`,
    );
    expect(await broken).toMatchObject({ outcome: 'failed', status: 400, code: 'invalid_request' });
    expect(text).toContain('"requestId":"mine"');
  });
});

describe('the client of a request', () => {
  const clientFor = async (service: TestService, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(`${service.service.url}/api/client`, { headers });
    return ((await response.json()) as { client: string }).client;
  };

  it('is the address that the trusted proxies report, which no other header changes', async () => {
    const behindGateway = await startTestService({ trustProxyHops: 1 });
    const headers = { 'X-Forwarded-For': '198.51.100.7, 203.0.113.9', 'X-Client-Name': 'alice' };
    try {
      expect(await clientFor(behindGateway, { 'X-Forwarded-For': headers['X-Forwarded-For'] })).toBe(
        '203.0.113.9',
      );
      expect(await clientFor(test, headers)).toBe('127.0.0.1');
    } finally {
      await behindGateway.service.stop();
    }
  });

  it('is one for a /64, one for a key at any address, and two for two keys at one address', async () => {
    const behindGateway = await startTestService({ trustProxyHops: 1 });
    const at = async (address: string, key?: string) =>
      clientFor(behindGateway, { 'X-Forwarded-For': address, ...(key && { 'X-Client-Name': key }) });
    try {
      expect(await at('2001:db9:1:1::1')).toBe(await at('2001:db9:1:1:ffff::2'));
      expect(await at('2001:db9:1:1::1')).not.toBe(await at('2001:db9:1:2::1'));
      expect(await at('::ffff:203.0.113.9')).toBe(await at('203.0.113.9'));
      expect(await at('203.0.113.9', 'alice')).toBe(await at('198.51.100.7', 'alice'));
      expect(await at('203.0.113.9', 'alice')).not.toBe(await at('203.0.113.9', 'bob'));
      expect(await at('203.0.113.9', 'alice')).not.toBe(await at('203.0.113.9'));
    } finally {
      await behindGateway.service.stop();
    }
  });
});

describe('the secret of the gateway', () => {
  const gatewaySecret = 'correct-horse-battery';
  const path = '/api/hello';

  it('is needed for everything but the health probe', async () => {
    const { service } = await startTestService({ gatewaySecret });
    try {
      for (const sent of [undefined, '', 'wrong', `${gatewaySecret}x`]) {
        const response = await fetch(service.url + path, {
          headers: sent === undefined ? {} : { 'X-Gateway-Secret': sent },
        });
        expect(response.status).toBe(403);
        expect(await response.json()).toMatchObject({ code: 'gateway_only' });
      }
      expect((await fetch(`${service.url}/api/health`)).status).toBe(200);
      const known = await fetch(service.url + path, { headers: { 'X-Gateway-Secret': gatewaySecret } });
      expect(known.status).toBe(200);
    } finally {
      await service.stop();
    }
  });

  it('is not needed by a service without one', async () => {
    expect((await get(path)).status).toBe(200);
  });
});

describe('the error table', () => {
  it('documents every code with a cause and a remedy, and links to it', () => {
    for (const code of codesOf(sharedErrors)) {
      const { status, cause, remedy } = sharedErrors[code];
      expect(status).toBeGreaterThanOrEqual(400);
      expect(cause.length).toBeGreaterThan(10);
      expect(remedy.length).toBeGreaterThan(10);
    }
    expect(problemType('internal_error', 'https://media.example/')).toBe(
      'https://media.example/docs/errors#internal-error',
    );
  });
});

it('reports the version of the service', async () => {
  const { registry } = createMetrics({ service: 'test', version: '1.2.3' });
  expect(await registry.getSingleMetricAsString('media_build_info')).toMatch(
    /media_build_info\{version="1\.2\.3",node="v[\d.]+",service="test"\} 1/,
  );
});

it('reports the memory of child processes and drops those that have ended', async () => {
  const { registry } = createMetrics({ service: 'test' });
  const memory = () => registry.getSingleMetricAsString('media_child_memory_bytes');
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  let text = '';
  while (!/program="sleep",service="test"\} [1-9]\d{4,}/.test(text)) text = await memory();
  child.kill();
  await once(child, 'exit');
  expect(await memory()).not.toContain('program="sleep"');
});

describe('the name of a download', () => {
  it.each([
    ['My video.mp4', 'attachment; filename="My video.mp4"'],
    [
      'Café 日本.mp3',
      `attachment; filename="Cafe _.mp3"; filename*=UTF-8''Caf%C3%A9%20%E6%97%A5%E6%9C%AC.mp3`,
    ],
    ['Müller.png', `attachment; filename="Muller.png"; filename*=UTF-8''M%C3%BCller.png`],
    ['日本.mp3', `attachment; filename="download.mp3"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.mp3`],
  ])('%s has an ASCII form that is readable', (name, header) => {
    expect(contentDisposition(name)).toBe(header);
  });

  it.each([
    ['BaW_jenozKc', 'BaW_jenozKc.mp3'],
    ['../x', 'download.mp3'],
    ['..', 'download.mp3'],
    ['日本', 'download.mp3'],
  ])('has the id %s in its ASCII form if the title has no Latin letter: %s', (id, fallback) => {
    expect(contentDisposition('日本.mp3', { id })).toContain(`filename="${fallback}"`);
    expect(contentDisposition('Café.mp3', { id })).toContain('filename="Cafe.mp3"');
  });

  it('is a valid header for any character', () => {
    for (let code = 0; code < 0x11000; code += 64) {
      const characters = String.fromCodePoint(...Array.from({ length: 64 }, (_, i) => code + i));
      expect(contentDisposition(`a${characters}.mp4`)).toMatch(/^[\x20-\x7e]+$/);
    }
  });
});
