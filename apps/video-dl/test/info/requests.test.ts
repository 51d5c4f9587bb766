import { type Site, startSite } from '@media-services/fault-site';
import request from 'supertest';
import { startRedis } from '../../../../packages/rate-limit/test/support/redis-server.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

describe('/api/info', () => {
  let site: Site;
  let service: TestService;
  /** With low limits. */
  let strict: TestService;

  beforeAll(async () => {
    site = await startSite();
    const env = { ALLOWED_PRIVATE_SOURCES: site.host };
    service = await startService(env, { engineScript: fixtureEngine });
    strict = await startService({
      ...env,
      VIDEO_MAX_SECONDS: '2',
      ENGINE_PROCESSES: '2',
    });
    await service.info(`${site.url}/watch`);
  });

  afterAll(async () => {
    await strict[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  it.each([
    ['no url', {}, 'invalid_request', ['url']],
    ['an empty url', { url: '' }, 'invalid_request', ['url']],
    ['another parameter too', { url: 'https://example.com/', fmt: 'mp3' }, 'invalid_request', ['fmt']],
    ['two invalid parameters', { link: 'x' }, 'invalid_request', ['url', 'link']],
    ['a bad scheme', { url: 'ftp://example.com/v.mp4' }, 'invalid_url', ['url']],
    ['text that is not a URL', { url: 'cats' }, 'invalid_url', ['url']],
  ])('rejects %s', async (_what, query, code, fields) => {
    const response = await request(service.url).get('/api/info').query(query);
    const body = response.body as { code: string; errors: { field: string }[] };
    expect(response.status).toBe(400);
    expect(body.code).toBe(code);
    expect(body.errors.map(({ field }) => field).sort()).toEqual([...fields].sort());
  });

  it('rejects a repeated url', async () => {
    const info = request(service.url).get('/api/info?url=https://a.example/&url=https://b.example/');
    expect((await info).status).toBe(400);
  });

  it('lists the allowed methods', async () => {
    const response = await request(service.url).post('/api/info');
    expect(response.status).toBe(405);
    expect(response.get('allow')).toBe('GET, HEAD');
  });

  it('extracts a page once for two hundred simultaneous requests', async () => {
    const before = site.requests.length;
    const extractions = service.context.extraction.extractions;
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => service.info(`${site.url}/watch?crowd=1`)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(service.context.extraction.extractions - extractions).toBe(1);
    const pageRequests = site.requests.slice(before).filter(({ path }) => path === '/watch');
    expect(pageRequests).toHaveLength(1);
    const metrics = await request(service.metricsUrl).get('/metrics');
    expect(metrics.text).toMatch(/media_extractions_total\{from="site",service="video-dl"\} 2\n/);
  });

  it('shares its extraction with a later stream', async () => {
    const extractions = service.context.extraction.extractions;
    const page = `${site.url}/watch?then=stream`;
    await service.info(page);
    const head = await request(service.url).head('/api/stream').query({ url: page });
    expect(head.status).toBe(200);
    const stream = await service.get('/api/stream', { url: page });
    expect((await stream.arrayBuffer()).byteLength).toBeGreaterThan(90_000);
    expect(service.context.extraction.extractions - extractions).toBe(1);
  });

  it('treats spellings of one URL as one page', async () => {
    const extractions = service.context.extraction.extractions;
    await service.info(`${site.url}/watch?same=1`);
    await service.info(`${site.url.toUpperCase().replace('HTTP', 'http')}/watch?same=1#t=10`);
    expect(service.context.extraction.extractions - extractions).toBe(1);
  });

  it('extracts again when the media URLs have expired', async () => {
    const extractions = service.context.extraction.extractions;
    const past = Math.floor(Date.now() / 1000) - 60;
    const page = `${site.url}/watch?expires=${past}`;
    await service.info(page);
    await service.info(page);
    expect(service.context.extraction.extractions - extractions).toBe(2);
  });

  it('aborts an extraction when the last client has left', async () => {
    let stalled = (): void => undefined;
    let closed = (): void => undefined;
    const arrived = new Promise<void>((resolve) => (stalled = resolve));
    const ended = new Promise<void>((resolve) => (closed = resolve));
    site.on('/stall', (req) => {
      req.socket.once('close', closed);
      stalled();
    });
    const leaving = new AbortController();
    const asked = service.get('/api/info', { url: `${site.url}/stall` }, { signal: leaving.signal });
    await arrived;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    // The connection to the site is closed, and the engine is free for the next job.
    await ended;
    expect(await service.info(`${site.url}/watch?next=1`)).toMatchObject({ status: 200 });
  });

  it('lists the stages in Server-Timing', async () => {
    const { headers } = await service.info(`${site.url}/watch`);
    expect(headers.get('server-timing')).toMatch(/extract;dur=[\d.]+/);
  });

  it('rejects videos above its limits with too_long, and offers no downloads', async () => {
    const { status, body } = await strict.info(`${site.url}/watch`);
    expect({ status, downloads: body['downloads'] }).toEqual({ status: 200, downloads: [] });
    const stream = await request(strict.url)
      .get('/api/stream')
      .query({ url: `${site.url}/watch` });
    expect(stream.status).toBe(422);
    expect(stream.body).toMatchObject({ code: 'too_long' });
  });

  it('rejects requests when the queue of extractions is full', async () => {
    let onStalled = (): void => undefined;
    const stalled = new Promise<void>((resolve) => (onStalled = resolve));
    site.on('/slow', () => onStalled());
    const leaving = new AbortController();
    const asked = Array.from({ length: 80 }, (_, number) =>
      strict.get('/api/info', { url: `${site.url}/slow?number=${number}` }, { signal: leaving.signal }),
    );
    const refused = await Promise.race(asked);
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, 'overloaded']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await stalled;
    leaving.abort();
    await Promise.allSettled(asked);
  });

  it("counts a key's requests across replicas", async () => {
    await using redis = await startRedis();
    const env = { REDIS_URL: redis.url, TRUST_PROXY_HOPS: '1' };
    await using first = await startService(env, { cold: true });
    await using second = await startService(env, { cold: true });
    const ask = (replica: TestService, name: string) =>
      replica.get(
        '/api/info',
        { url: 'no-url' },
        { headers: { 'X-Client-Name': name, 'X-Client-Limit': '5' } },
      );
    // Each replica counts separately until it is connected.
    for (let attempt = 0; ; attempt += 1) {
      await ask(first, `early-${attempt}`);
      const { headers } = await ask(second, `early-${attempt}`);
      if (headers.get('ratelimit')?.includes('r=3')) break;
    }

    const statuses: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      statuses.push((await ask(count % 2 === 0 ? first : second, 'bob')).status);
    }

    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429]);
  });
});

describe('/api/health', () => {
  it('is 503 until the engine is warm, then describes it', async () => {
    await using service = await startService({}, { cold: true });
    const health = async () => request(service.url).get('/api/health');
    const early = await health();
    expect([early.status, early.body]).toMatchObject([
      503,
      { checks: { downloadEngine: { status: 'starting' } } },
    ]);
    await service.context.engine.run(
      { kind: 'health' },
      { signal: new AbortController().signal, timeoutMs: 60_000 },
    );
    const response = await health();
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      status: expect.stringMatching(/^(ok|degraded)$/) as string,
      checks: {
        downloadEngine: {
          version: expect.stringMatching(/^20\d\d\./) as string,
          ageDays: expect.any(Number) as number,
        },
        muxingEngine: { status: 'ok', version: expect.any(String) as string },
        parsers: { status: 'ok', processes: expect.any(Number) as number },
      },
    });
  });
});
