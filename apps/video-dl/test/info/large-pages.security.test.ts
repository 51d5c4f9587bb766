import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Site, startSite } from '@media-services/fault-site';
import { parsePageUrl } from '../../src/extract/page-url.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

let site: Site;
let service: TestService;

beforeAll(async () => {
  site = await startSite();
  service = await startService(
    { ALLOWED_PRIVATE_SOURCES: site.host, PAGE_MAX_BYTES: '2MiB' },
    { engineScript: fixtureEngine },
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

describe('an endless page', () => {
  beforeAll(() => {
    site.on('/endless', (_req, res) => {
      res.on('error', () => undefined);
      res.writeHead(200, { 'content-type': 'text/html' });
      // When the client disconnects, some Node versions report an error here. Writing again would loop forever.
      const more = (error?: Error | null): void => {
        if (!error) res.write(`<p>${'endless '.repeat(8000)}</p>`, more);
      };
      more();
    });
  });

  it('is abandoned at PAGE_MAX_BYTES with a clear error, and the engine keeps running', async () => {
    const answer = await service.info(`${site.url}/endless`);
    expect(answer).toMatchObject({ status: 422, body: { code: 'unsupported_url', retryable: false } });
    expect(answer.body['detail']).toContain('PAGE_MAX_BYTES');
    expect((await service.info(`${site.url}/missing`)).body['code']).toBe('video_not_found');
  });
});

describe('a page with the maximum number of formats', () => {
  /** Nothing may block the event loop for longer. */
  const maxBlockedMs = 200;

  /** The longest time that the event loop was blocked. */
  async function blockedMs(work: () => Promise<void>): Promise<number> {
    const histogram = monitorEventLoopDelay({ resolution: 10 });
    histogram.enable();
    await delay(50);
    histogram.reset();
    await work();
    await delay(50);
    histogram.disable();
    return histogram.max / 1e6;
  }

  it('is parsed without blocking other clients', async () => {
    const attempts: number[] = [];
    for (let attempt = 1; attempt <= 10; attempt += 1) {
      const ms = await blockedMs(async () => {
        const { extraction } = service.context;
        const page = parsePageUrl(`${site.url}/fixture/large-result?${attempt}`);
        const { formats } = await extraction.extract(page, { signal: new AbortController().signal });
        expect(formats).toHaveLength(230);
      });
      attempts.push(ms);
      // A busy machine delays some attempts; a blocked event loop delays all of them.
      if (ms < maxBlockedMs) return;
    }
    throw new Error(`it held the event loop for ${attempts.map(Math.round).join(', ')} ms`);
  });

  it('is rejected once it has more', async () => {
    const { status, body } = await service.info(`${site.url}/fixture/too-large-result`);
    expect({ status, code: body['code'] }).toEqual({ status: 422, code: 'unsupported_url' });
    expect(body['detail']).toContain('more media than this service can read');
  });
});

describe('the thumbnail of a page', () => {
  beforeAll(() => {
    site.on('/pictured', (req, res) => {
      const picture = new URL(req.url ?? '', 'http://x').searchParams.get('picture') ?? '';
      res.writeHead(200, { 'content-type': 'text/html' });
      res.end(
        `<html><head><title>Pictured</title><meta property="og:image" content="${picture}"></head>` +
          '<body><video src="/media/front.mp4"></video></body></html>',
      );
    });
  });

  const thumbnailOf = async (picture: string): Promise<unknown> => {
    const page = `${site.url}/pictured?${new URLSearchParams({ picture }).toString()}`;
    return (await service.info(page)).body['thumbnail'];
  };

  it('is included if it is public', async () => {
    expect(await thumbnailOf(`${site.url}/media/cover.jpg`)).toBe(`${site.url}/media/cover.jpg`);
  });

  it.each([
    'http://127.0.0.1:1/router.jpg',
    'http://10.0.0.1/router.jpg',
    'http://[::1]/x.jpg',
    'http://169.254.169.254/x',
  ])('is omitted if it leads into a private network (%s)', async (picture) => {
    expect(await thumbnailOf(picture)).toBeNull();
  });
});
