import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { createHttpApp, createLogger, createMetrics } from '@media-services/http-common';
import request from 'supertest';
import { planTarget } from '../../src/plan/plan.js';
import { infoHandler } from '../../src/api/info.js';
import { errorTable } from '../../src/errors.js';
import type { Extraction } from '../../src/extract/types.js';
import { format } from '../support/extractions.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

let site: Site;
let service: TestService;

beforeAll(async () => {
  site = await startSite();
  service = await startService(
    { ALLOWED_PRIVATE_SOURCES: site.host, YTDLP_EXTRACTOR_ARGS: 'fixture:said=first,second' },
    { engineScript: fixtureEngine },
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site.close();
});

let pages = 0;
/** A page that was never extracted, even if its test runs again. */
const freshPage = (name: string) => `${site.url}/fixture/${name}?n=${(pages += 1)}`;

/** Settings for sites that treat a server's IP differently. */
describe('settings for sites', () => {
  it("reach yt-dlp's extractors (YTDLP_EXTRACTOR_ARGS)", async () => {
    const { body } = await service.info(`${site.url}/fixture/arguments`);
    expect(body['description']).toBe('first second');
  });

  it('connect the PO token plugin, and nothing else, to its provider (POT_PROVIDER_URL)', async () => {
    const asked: string[] = [];
    const provider = createServer((req, res) => {
      let body = '';
      req.on('data', (chunk: Buffer) => (body += chunk.toString()));
      req.on('end', () => {
        asked.push(`${req.url ?? ''} ${body}`);
        const answer = req.url === '/ping' ? { version: '2.0.2' } : { poToken: 'a-token' };
        res.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
      });
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
    {
      await using connected = await startService(
        { ALLOWED_PRIVATE_SOURCES: site.host, POT_PROVIDER_URL: `http://${host}` },
        { engineScript: fixtureEngine },
      );
      expect(connected.context.engine.health().ready?.potProvider).toBe('2.0.2');
      const { body } = await connected.info(`${site.url}/fixture/po-token`);
      expect(body['description']).toBe('a-token');
      expect(await connected.info(`http://${host}/ping`)).toMatchObject({
        status: 403,
        body: { code: 'forbidden_address' },
      });
    }
    expect(asked[0]).toBe('/ping ');
    expect(asked[1]).toContain('/get_pot');
    // The provider must not get the credentials of the egress proxy.
    expect(asked[1]).toContain('"proxy": null');
    provider.close();
  });
});

describe('media that is released after ads', () => {
  it('is requested once, after the wait', async () => {
    const url = freshPage('wait');
    const before = service.context.extraction.extractions;
    const { body } = await service.info(url);
    const [format] = body['formats'] as { availableAt: string }[];
    const availableAt = Date.parse(format?.availableAt ?? '');
    expect(availableAt).toBeGreaterThan(Date.now() - 60_000);
    let askedAt = 0;
    site.on('/media/late.mp4', async (req, res) => {
      askedAt ||= Date.now();
      await sendFile(req, res, await media('front.mp4'), 'video/mp4');
    });
    const stream = await service.get('/api/stream', { url });
    await stream.arrayBuffer();
    expect(stream.status).toBe(200);
    expect(stream.headers.get('server-timing')).toContain('availability;dur=');
    expect(askedAt).toBeGreaterThanOrEqual(availableAt);
    expect(service.context.extraction.extractions - before).toBe(1);
  });

  it('fails immediately when the wait exceeds the limit for the first byte', async () => {
    await using hasty = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host, FIRST_BYTE_TIMEOUT_SECONDS: '1' },
      { engineScript: fixtureEngine },
    );
    const refusal = await request(hasty.url)
      .get('/api/stream')
      .query({ url: `${site.url}/fixture/wait` });
    expect(refusal.body).toMatchObject({ status: 504, code: 'upstream_timeout' });
  });
});

describe('the selected audio', () => {
  it.each([
    ['original before a dub with more bits', 'dubbed', 'original', 'original'],
    ['plain file before HLS of unknown codec', 'hls-audio', 'file', 'file'],
    ['plain before dynamically compressed', 'drc', 'plain', 'plain'],
    ['MP3 as it is, AAC for MP4', 'mp3-and-aac', 'mp3', 'aac'],
  ])('is the %s', async (_what, name, mp3, mp4) => {
    const { body } = await service.info(`${site.url}/fixture/${name}`);
    const downloads = body['downloads'] as { target: string; formatIds: string[] }[];
    const ids = (target: string) =>
      downloads.find((download) => download.target === target)?.formatIds.at(-1);
    expect({ mp3: ids('mp3'), mp4: ids('mp4-720') }).toEqual({ mp3, mp4 });
  });
});

describe('a site that rejects its media permanently', () => {
  it('is an error soon, after one renewal', async () => {
    const before = service.context.extraction.extractions;
    let refused = 0;
    site.on('/media/refused.mp4', (_req, res) => {
      refused += 1;
      res.writeHead(403).end();
    });
    const refusal = await request(service.url)
      .get('/api/stream/video')
      .query({ url: freshPage('refused') });
    expect(refusal.body).toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('rejects') as string,
    });
    expect(service.context.extraction.extractions - before).toBe(2);
    expect(refused).toBeLessThanOrEqual(6);
  });
});

const extraction: Extraction = {
  id: 'film',
  title: 'Film',
  thumbnail: null,
  covers: [],
  durationSeconds: 10,
  durationSource: null,
  mediaStateWrongLength: false,
  uploader: null,
  webpageUrl: 'https://example.com/film',
  extractor: 'generic',
  uploadDate: null,
  description: null,
  playlistIndex: null,
  playlistCount: null,
  items: [],
  section: null,
  suggestedStartSeconds: null,
  formats: [format()],
  selections: { mp3: [format()], 'mp4-720': [format()], 'mp4-1080': [format()], original: [format()] },
  audioLanguages: [],
  chapters: [],
  subtitles: [],
  extractedAt: 0,
  expiresAt: 0,
};

const settings = { maxDurationSeconds: 3600, maxOutputBytes: 1e9, mp4Video: 'copy' } as const;

it.each(['', '/tools/media'])('the URLs of downloads start with the base path %p', async (basePath) => {
  const info = infoHandler({
    extraction: { extract: () => Promise.resolve(extraction) },
    basePath,
    streaming: {
      prospect: ({ extraction: found, target, clip }) =>
        Promise.resolve({ kind: 'convert', plan: planTarget(found, target, settings, clip) }),
    },
  });
  const app = createHttpApp({
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics({ service: 'test' }),
    trustProxyHops: 0,
    errors: errorTable,
    docsBaseUrl: '',
    routes: (router) => router.get('/api/info', info),
  });

  const response = await request(app).get('/api/info').query({ url: 'https://example.com/film?a=1' });

  const { downloads } = response.body as { downloads: { href: string }[] };
  expect(downloads.map(({ href }) => href)).toEqual([
    `${basePath}/api/stream?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1`,
    `${basePath}/api/stream/video?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1&fmt=mp4-720`,
    `${basePath}/api/stream/video?url=https%3A%2F%2Fexample.com%2Ffilm%3Fa%3D1&fmt=mp4-1080`,
  ]);
});
