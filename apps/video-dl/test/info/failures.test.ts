import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { media, type Site, startSite } from '@media-services/fault-site';
import { downloadEngineCheck } from '../../src/api/health.js';
import { fixtureEngine, interpreters } from '../support/pythons.js';
import { type Answer, startService, type TestService } from '../support/service.js';

/** Pages of the fixture extractor with the code and status of their failure. */
const fixtures: [name: string, code: string, status: number][] = [
  ['private', 'private_video', 403],
  ['login', 'login_required', 403],
  ['age', 'age_restricted', 403],
  ['removed', 'video_not_found', 404],
  ['premiere', 'not_started', 409],
  ['upcoming', 'not_started', 409],
  ['not-live', 'not_started', 409],
  ['live', 'live_not_supported', 422],
  ['post-live', 'live_not_supported', 422],
  ['channel', 'playlist_not_supported', 422],
  ['album', 'playlist_not_supported', 422],
  ['no-formats', 'no_media', 422],
  ['drm', 'drm_protected', 422],
  ['drm-formats', 'drm_protected', 422],
  ['geo', 'geo_blocked', 451],
  ['rate', 'upstream_rate_limited', 503],
  ['bot', 'bot_check', 503],
  ['bug', 'upstream_error', 502],
  ['suspended', 'video_not_found', 404],
  ['all-fail', 'private_video', 403],
  ['photograph', 'no_media', 422],
  ['preview', 'login_required', 403],
  ['preview-warned', 'login_required', 403],
  ['upcoming-without-formats', 'not_started', 409],
  ['ended-without-formats', 'live_not_supported', 422],
];

const pages: [path: string, code: string, status: number][] = [
  ['/nothing', 'unsupported_url', 422],
  ['/feed.xml', 'playlist_not_supported', 422],
  ['/media/hls-live/index.m3u8', 'live_not_supported', 422],
  ['/missing', 'video_not_found', 404],
  ['/status/410', 'video_not_found', 404],
  ['/status/401', 'login_required', 403],
  ['/status/403', 'upstream_error', 502],
  ['/status/429', 'upstream_rate_limited', 503],
  ['/status/451', 'geo_blocked', 451],
  ['/status/500', 'upstream_error', 502],
  ['/media/cover.jpg', 'no_media', 422],
  ['/image', 'no_media', 422],
  ['/watch?media=missing.mp4', 'video_not_found', 404],
  ['/redirect-loop', 'upstream_error', 502],
];

describe.each(await interpreters())('failures with yt-dlp $ytDlp', ({ python }) => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    for (const status of [401, 403, 410, 429, 451, 500]) {
      site.on(`/status/${status}`, (_req, res) => void res.writeHead(status).end('<h1>no</h1>'));
    }
    site.on('/image', async (_req, res) => {
      res.writeHead(200, { 'content-type': 'image/jpeg' }).end(await readFile(await media('cover.jpg')));
    });
    site.on('/redirect-loop', (_req, res) => void res.writeHead(302, { location: '/redirect-loop' }).end());
    process.env['AN_OPERATORS_SECRET'] = 'secret';
    service = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host, YTDLP_PYTHON: python },
      { engineScript: fixtureEngine },
    );
  });

  afterAll(async () => {
    delete process.env['AN_OPERATORS_SECRET'];
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  it.each(fixtures)('“%s” from the site is %s', async (name, code, status) => {
    expectProblem(await service.info(`${site.url}/fixture/${name}`), code, status);
  });

  it.each(pages)('%s is %s', async (path, code, status) => {
    expectProblem(await service.info(site.url + path), code, status);
  });

  it('sends Retry-After with every 503', async () => {
    for (const name of ['rate', 'bot']) {
      const { headers } = await service.info(`${site.url}/fixture/${name}`);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it.each(['/premium/clip', '/upcoming', '/captcha-free', '/private/drm?vip=login'])(
    'takes no words of the address for what the site said (%s)',
    async (path) => {
      site.on(path.replace(/\?.*/, ''), (_req, res) => void res.writeHead(500).end());
      expectProblem(await service.info(site.url + path), 'upstream_error', 502);
    },
  );

  it.each([
    ['memory', 'more memory'],
    ['requests', 'more pages'],
  ])('names the limit that a page exceeds (%s)', async (name, said) => {
    const { status, body } = await service.info(`${site.url}/fixture/${name}`);
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'unsupported_url' });
    expect(body['detail']).toContain(said);
  });

  it('passes only the necessary environment variables to the engine', async () => {
    const { body } = await service.info(`${site.url}/fixture/environment`);
    expect(body['description']).toContain('PATH');
    expect(body['description']).not.toContain('SECRET');
  });

  it('counts the warnings of successful extractions, and reports a fallback in health', async () => {
    expect(service.context.extraction.degradation).toBeUndefined();
    expect(await service.info(`${site.url}/fixture/warned`)).toMatchObject({ status: 200 });
    expect(service.context.extraction.degradation).toContain('player script');
    const metrics = await service.context.metrics.registry.metrics();
    expect(metrics).toMatch(/media_extraction_warnings_total\{.*kind="challenge_failed".*\} 1/);
    const { check } = downloadEngineCheck(service.context);
    expect(await check(new AbortController().signal)).toMatchObject({
      status: 'degraded',
      message: expect.stringContaining('player script') as string,
    });
  });

  it('never reveals URLs with tokens', async () => {
    const { status, body } = await service.info(`${site.url}/fixture/secret-address`);
    expect(status).toBe(502);
    expect(JSON.stringify(body)).not.toContain('very-secret');
  });

  it.each([
    ['a name that does not exist', 'http://does-not-exist.invalid/', 'upstream_unreachable', 502],
    ['a private address', 'http://10.1.2.3/watch', 'forbidden_address', 403],
    ['this machine on another port', 'http://127.0.0.1:1/', 'forbidden_address', 403],
    ['the metadata address', 'http://169.254.169.254/latest/meta-data/', 'forbidden_address', 403],
  ])('rejects %s', async (_what, url, code, status) => {
    expectProblem(await service.info(url), code, status);
  });

  it.each(['/redirect', '/meta-refresh?to=http://127.0.0.1:1/', '/embeds?src=http://127.0.0.1:1/v.mp4'])(
    'refuses a page that leads to a private address (%s)',
    async (path) => {
      site.on('/redirect', (_req, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
      expectProblem(await service.info(site.url + path), 'forbidden_address', 403);
    },
  );

  it('reports a private address rather than the apparent error of the site, and keeps its outbound proxy', async () => {
    // yt-dlp takes the guard's rejection for an HTTP 403 from the site.
    for (const media of ['http://127.0.0.1:1/x.m3u8', 'http://127.0.0.1:1/x.mpd'])
      expectProblem(await service.info(`${site.url}/embeds?src=${media}`), 'forbidden_address', 403);
  });

  it('gives up on a page that does not respond or does not end', async () => {
    site.on('/stall', () => undefined);
    site.on('/drip', (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' });
      const timer = setInterval(() => res.write('<p>word</p>'), 50);
      res.on('close', () => clearInterval(timer));
    });
    await using hasty = await startService({
      ALLOWED_PRIVATE_SOURCES: site.host,
      YTDLP_PYTHON: python,
      ENGINE_PROCESSES: '2',
      EXTRACTION_TIMEOUT_SECONDS: '3',
    });
    const answers = await Promise.all(['/stall', '/drip'].map(async (path) => hasty.info(site.url + path)));
    for (const answer of answers) expectProblem(answer, 'upstream_timeout', 504);
  });

  it('reports an error when the engine dies during a job, and recovers', async () => {
    expectProblem(await service.info(`${site.url}/fixture/crash`), 'engine_unavailable', 503);
    expect(await service.info(`${site.url}/watch`)).toMatchObject({ status: 200 });
  });
});

function expectProblem({ status, headers, body }: Answer, code: string, expectedStatus: number): void {
  expect({ code: body['code'], status }).toEqual({ code, status: expectedStatus });
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect(body).toMatchObject({
    status,
    title: expect.any(String) as string,
    detail: expect.any(String) as string,
  });
}

/** Sites that are unreachable, and media whose server rejects requests, trickles or recovers while the service probes it. */
describe('an allowed source', () => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    service = await startService({ ALLOWED_PRIVATE_SOURCES: '127.0.0.0/8' });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  it('that rejects or drops connections is upstream_unreachable', async () => {
    const sockets = new Set<Socket>();
    const dropping = createServer((socket) => sockets.add(socket).delete(socket.destroy()));
    dropping.listen(0, '127.0.0.1');
    await once(dropping, 'listening');
    const { port } = dropping.address() as AddressInfo;
    expectProblem(await service.info('http://127.0.0.1:1/'), 'upstream_unreachable', 502);
    expectProblem(await service.info(`http://127.0.0.1:${port}/`), 'upstream_unreachable', 502);
    dropping.close();
  });

  const page = (title: string, mediaPath: string): string => {
    const path = `/page-${title}`;
    site.on(path, (_req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end(`<title>${title}</title><video src="${mediaPath}"></video>`);
    });
    return site.url + path;
  };

  it('that returns 403 fails after one extraction, and works once the site has recovered', async () => {
    let refused = true;
    site.on('/guarded.mp4', async (_req, res) => {
      if (refused) res.writeHead(403).end();
      else res.writeHead(200, { 'content-type': 'video/mp4' }).end(await readFile(await media('front.mp4')));
    });
    const url = page('guarded', '/guarded.mp4');
    const before = service.context.extraction.extractions;
    expect(await service.info(url)).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    expect(service.context.extraction.extractions - before).toBe(1);
    refused = false;
    expect(await service.info(url)).toMatchObject({ status: 200, body: { duration: 4 } });
  });

  it('that returns 403 for a rendition of a playlist fails too', async () => {
    site.on('/master.m3u8', (_req, res) => {
      res.setHeader('content-type', 'application/vnd.apple.mpegurl');
      res.end('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\n/rendition.m3u8\n');
    });
    site.on('/rendition.m3u8', (_req, res) => void res.writeHead(403).end());
    const answer = await service.info(`${site.url}/master.m3u8`);
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
  });

  it('that trickles or sends nothing ends at the deadline of the whole extraction', async () => {
    const film = await readFile(await media('front.mp4'));
    let closed = (): void => undefined;
    const ended = new Promise<void>((resolve) => (closed = resolve));
    site.on('/drip.mp4', (_req, res) => {
      res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': film.length });
      let at = 0;
      const timer = setInterval(() => res.write(film.subarray(at, (at += 40))), 200);
      res.on('close', () => {
        clearInterval(timer);
        closed();
      });
    });
    site.on('/silent.mp4', () => undefined);
    await using hasty = await startService({
      ALLOWED_PRIVATE_SOURCES: site.host,
      ENGINE_PROCESSES: '2',
      EXTRACTION_TIMEOUT_SECONDS: '10',
    });
    const asked = [page('drip', '/drip.mp4'), page('silent', '/silent.mp4')].map((url) => hasty.info(url));
    for (const answer of await Promise.all(asked))
      expect(answer).toMatchObject({ status: 504, body: { code: 'upstream_timeout' } });
    await ended;
  });
});
