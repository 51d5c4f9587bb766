import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';

const page = 'https://page.example';

async function withGateway(origins: string | undefined, check: (gateway: TestGateway) => Promise<void>) {
  await using gateway = await startGateway(
    origins === undefined ? {} : { env: { CORS_ALLOWED_ORIGINS: origins } },
  );
  await check(gateway);
}

const ask = (
  gateway: TestGateway,
  origin: string,
  init: { method?: string; headers?: Record<string, string> } = {},
  path = '/api/info?url=x',
) => fetch(gateway.url + path, { ...init, headers: { Origin: origin, ...init.headers } });

const preflight = (gateway: TestGateway, origin: string) =>
  ask(
    gateway,
    origin,
    {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' },
    },
    '/api/remove-background',
  );

function corsHeaders(response: Response): string[] {
  return [...response.headers.keys()].filter((name) => name.startsWith('access-control-'));
}

test('no other origin by default', () =>
  withGateway(undefined, async (gateway) => {
    expect(corsHeaders(await ask(gateway, page))).toEqual([]);
    const answer = await preflight(gateway, page);
    expect(corsHeaders(answer)).toEqual([]);
    expect(answer.status).toBe(403);
    expect(gateway.bgRemoval.requests).toHaveLength(0);
  }));

test('allows exactly the listed origins, however they are written, and caches keep them apart', () =>
  withGateway('https://Page.example:443, http://localhost:3000, http://localhost:3000', async (gateway) => {
    for (const origin of [page, 'http://localhost:3000']) {
      const response = await ask(gateway, origin);
      expect(response.headers.get('access-control-allow-origin')).toBe(origin);
      expect(response.headers.get('vary')).toContain('Origin');
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
    for (const stranger of [
      'https://page.example.evil',
      'http://page.example',
      'https://x.page.example',
      'null',
    ]) {
      const response = await ask(gateway, stranger);
      expect(corsHeaders(response)).toEqual([]);
      expect(response.headers.get('vary')).toContain('Origin');
      expect(corsHeaders(await preflight(gateway, stranger))).toEqual([]);
    }
  }));

test('allows every origin with *', () =>
  withGateway('*', async (gateway) => {
    const response = await ask(gateway, page);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('vary') ?? '').not.toContain('Origin');
  }));

test('the gateway handles a preflight and does not count it', () =>
  withGateway(page, async (gateway) => {
    for (let count = 0; count < 30; count += 1) {
      const response = await preflight(gateway, page);
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-origin')).toBe(page);
      expect(response.headers.get('access-control-allow-methods')).toContain('POST');
      for (const name of ['Authorization', 'If-Range'])
        expect(response.headers.get('access-control-allow-headers')).toContain(name);
      expect(Number(response.headers.get('access-control-max-age'))).toBeGreaterThan(0);
    }
    expect(gateway.bgRemoval.requests).toHaveLength(0);
  }));

test("a page may read response headers and the gateway's errors", () =>
  withGateway(page, async (gateway) => {
    const exposed = (await ask(gateway, page)).headers.get('access-control-expose-headers');
    for (const name of [
      'RateLimit',
      'Retry-After',
      'X-Request-ID',
      'X-Content-Duration',
      'Content-Disposition',
      'Content-Range',
      'ETag',
    ]) {
      expect(exposed).toContain(name);
    }
    const missing = await ask(gateway, page, {}, '/api/nope');
    expect(missing.headers.get('access-control-allow-origin')).toBe(page);
    await expectProblem(missing, 404, 'not_found');
  }));
