import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';

let gateway: TestGateway;

/** Allows so many requests at once, then one each `regainSeconds`. */
interface Burst {
  readonly size: number;
  readonly regainSeconds: number;
}

/** At 30 requests a minute. */
const videoBurst = { size: 11, regainSeconds: 2 };

/**
 * Asks until the first 429, which it returns. A slow machine regains some requests meanwhile.
 */
async function exhaust(
  { size, regainSeconds }: Burst,
  ask: (index: number) => Promise<Response>,
): Promise<Response> {
  const startedAt = performance.now();
  let allowed = 0;
  let response = await ask(0);
  for (; response.status === 200; response = await ask(allowed)) allowed += 1;
  const regained = Math.floor((performance.now() - startedAt) / 1000 / regainSeconds);

  expect(response.status).toBe(429);
  expect(allowed).toBeGreaterThanOrEqual(size);
  expect(allowed).toBeLessThanOrEqual(size + regained);
  return response;
}

const lookUp = () => fetch(`${gateway.url}/api/info?url=x`);

describe('per minute', () => {
  beforeEach(async () => {
    gateway = await startGateway();
  });

  afterEach(async () => {
    await gateway[Symbol.asyncDispose]();
  });

  test('video: a burst of 10 beyond the first request, then 429 with Retry-After, without asking the service', async () => {
    let allowed = 0;
    const response = await exhaust(videoBurst, async () => {
      const answer = await lookUp();
      if (answer.status === 200) allowed += 1;
      return answer;
    });

    const problem = await expectProblem(response, 429, 'rate_limited');
    expect(response.headers.get('retry-after')).toBe('2');
    expect(problem.detail).toContain('too many requests');
    expect(problem.detail).not.toContain('operator');
    expect(gateway.videoDl.requests).toHaveLength(allowed);

    // These do not count towards the video limit.
    expect((await fetch(`${gateway.url}/video-dl/api/health`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/`)).status).toBe(200);
    const upload = await fetch(`${gateway.url}/api/remove-background`, { method: 'POST', body: 'x' });
    expect(upload.status).toBe(200);
  });

  test('info, both streams and the service path share the limit', async () => {
    const paths = [
      '/api/info?url=x',
      '/api/stream?url=x',
      '/api/stream/video?url=x',
      '/video-dl/api/info?url=x',
      '/video-dl/api/stream?url=x',
      '/video-dl/api//stream?url=x',
      '/video-dl/api/INFO?url=x',
    ];

    await exhaust(videoBurst, (index) => fetch(`${gateway.url}${paths[index % paths.length] ?? ''}`));
  });

  test('a new X-Forwarded-For with each request changes nothing', async () => {
    await exhaust(videoBurst, (index) =>
      fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Forwarded-For': `203.0.113.${index}` } }),
    );
  });

  test('images: a flood is stopped at the gateway, far above what the service allows', async () => {
    await exhaust({ size: 21, regainSeconds: 1 }, (index) =>
      fetch(`${gateway.url}${index % 2 ? '/bg-removal' : ''}/api/remove-background`, {
        method: 'POST',
        body: 'x',
      }),
    );
  });
});

describe('at once', () => {
  beforeAll(async () => {
    gateway = await startGateway({ env: { VIDEO_REQUESTS_PER_MINUTE: '0' } });
  });

  beforeEach(() => gateway.resetServices());

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
  });

  test('allows four concurrent streams, and metadata besides; a fifth must wait', async () => {
    gateway.videoDl.respondWith((req, res) => {
      res.writeHead(200, { 'Content-Type': 'video/mp4' });
      if (req.url?.startsWith('/api/stream')) res.write('first bytes');
      else res.end();
    });
    const abort = new AbortController();
    const stream = (signal?: AbortSignal) =>
      fetch(`${gateway.url}/api/stream/video?url=x`, signal === undefined ? {} : { signal });
    const first = await stream(abort.signal);
    const others = await Promise.all([stream(), stream(), stream()]);
    expect([first, ...others].map(({ status }) => status)).toEqual([200, 200, 200, 200]);

    const problem = await expectProblem(await stream(), 429, 'rate_limited');
    expect(problem.detail).toContain('4 streams');
    expect((await lookUp()).status).toBe(200);

    const upstream = gateway.videoDl.requests[0];
    if (upstream === undefined) throw new Error('the first stream did not arrive');
    const upstreamClosed = once(upstream.socket, 'close');
    abort.abort();
    await upstreamClosed;
    expect((await stream()).status).toBe(200);
  });

  test('allows eight concurrent look-ups; a ninth must wait', async () => {
    const held: ServerResponse[] = [];
    const eightArrived = new Promise<void>((resolve) => {
      gateway.videoDl.respondWith((_req, res) => {
        if (held.push(res) === 8) resolve();
      });
    });
    const running = Array.from({ length: 8 }, () => lookUp());
    await eightArrived;

    const problem = await expectProblem(await lookUp(), 429, 'rate_limited');

    expect(problem.detail).toContain('8 requests for details');
    for (const response of held) response.end();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array.from(held, () => 200));
  });
});

describe('whom a limit counts', () => {
  // The test is the trusted proxy in front, so that it can speak for any address.
  beforeAll(async () => {
    gateway = await startGateway({
      env: {
        TRUSTED_PROXIES: '127.0.0.1',
        VIDEO_REQUESTS_PER_MINUTE: '6',
        OPERATOR_CONTACT: 'limits@example.org "quoted"',
      },
    });
  });

  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
  });

  const askFrom = (address: string) =>
    fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Forwarded-For': address } });
  const from = async (address: string) => (await askFrom(address)).status;
  const exhaustFrom = (address: string) => exhaust({ size: 3, regainSeconds: 10 }, () => askFrom(address));

  test("an IPv4 address is counted separately, and its rejection names the operator's contact", async () => {
    const rejection = await exhaustFrom('198.51.100.1');
    const { detail } = await expectProblem(rejection, 429, 'rate_limited');
    expect(detail).toContain('limits@example.org "quoted"');
    expect(await from('198.51.100.2')).toBe(200);
  });

  test.each([
    ['2001:db8:1:1::1', '2001:db8:1:1:ffff:ffff:ffff:ffff', '2001:db8:1:2::1'],
    ['2001:db8::1', '2001:db8:0:0:a::', '2001:db8:0:1::1'],
    ['2001:db8:a0a:a0a::a', '2001:db8:a0a:a0a:a0a:a0a:a0a:a0a', '2001:db8:a0a:a0b::a'],
    ['fe80:0:0:5::', 'fe80:0:0:5::ffff', 'fe80::5'],
  ])('%s shares its /64 with %s but not with %s', async (address, neighbour, stranger) => {
    await exhaustFrom(address);

    expect(await from(neighbour)).toBe(429);
    expect(await from(stranger)).toBe(200);
  });

  test('IPv4 clients of a dual-stack socket are distinguished, and equal those over IPv4', async () => {
    await exhaustFrom('::ffff:203.0.113.1');

    expect(await from('::ffff:203.0.113.2')).toBe(200);
    expect(await from('::ffff:10.10.10.10')).toBe(200);
    expect(await from('203.0.113.1')).toBe(429);
  });

  test('the service gets only the real IP address', async () => {
    const response = await fetch(`${gateway.url}/api/info?url=x`, {
      headers: { 'X-Forwarded-For': '192.0.2.66, 192.0.2.77' },
    });

    expect(((await response.json()) as { headers: Record<string, string> }).headers['x-forwarded-for']).toBe(
      '192.0.2.77',
    );
  });
});
