import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { media, sendFile, type Site, startSite } from '@media-services/fault-site';
import request from 'supertest';
import { fixtureEngine } from '../support/pythons.js';
import { startService } from '../support/service.js';

/** What operators set for sites that treat a server's address differently. */
describe('settings for sites', () => {
  let site: Site;

  beforeAll(async () => (site = await startSite()));
  afterAll(async () => site.close());

  it("reach yt-dlp's extractors (YTDLP_EXTRACTOR_ARGS)", async () => {
    await using service = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host, YTDLP_EXTRACTOR_ARGS: 'fixture:said=first,second' },
      { engineScript: fixtureEngine },
    );
    const { body } = await service.info(`${site.url}/fixture/arguments`);
    expect(body['description']).toBe('first second');
  });

  it('lead the PO token plugin to its provider, and nobody else (POT_PROVIDER_URL)', async () => {
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
      await using service = await startService(
        { ALLOWED_PRIVATE_SOURCES: site.host, POT_PROVIDER_URL: `http://${host}` },
        { engineScript: fixtureEngine },
      );
      expect(service.context.engine.health().ready?.potProvider).toBe('2.0.2');
      const { body } = await service.info(`${site.url}/fixture/po-token`);
      expect(body['description']).toBe('a-token');
      expect(await service.info(`http://${host}/ping`)).toMatchObject({
        status: 403,
        body: { code: 'forbidden_address' },
      });
    }
    expect(asked[0]).toBe('/ping ');
    expect(asked[1]).toContain('/get_pot');
    // Credentials of the egress proxy are not for the provider.
    expect(asked[1]).toContain('"proxy": null');
    provider.close();
  });
});

describe('media that come after advertisements', () => {
  it('are waited for before they are asked for, once', async () => {
    const site = await startSite();
    await using service = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host },
      { engineScript: fixtureEngine },
    );
    const url = `${site.url}/fixture/wait`;
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
    expect(service.context.extraction.extractions).toBe(1);
    await site.close();
  });

  it('fail at once when that takes longer than a first byte may', async () => {
    const site = await startSite();
    await using service = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host, FIRST_BYTE_TIMEOUT_SECONDS: '1' },
      { engineScript: fixtureEngine },
    );
    const refusal = await request(service.url)
      .get('/api/stream')
      .query({ url: `${site.url}/fixture/wait` });
    expect(refusal.body).toMatchObject({ status: 504, code: 'upstream_timeout' });
    await site.close();
  });
});

describe('the sound that is chosen', () => {
  it.each([
    ['original before a dub with more bits', 'dubbed', 'original', 'original'],
    ['plain file before HLS of unknown codec', 'hls-audio', 'file', 'file'],
    ['plain before compressed for small speakers', 'drc', 'plain', 'plain'],
    ['MP3 as it is, AAC for MP4', 'mp3-and-aac', 'mp3', 'aac'],
  ])('is the %s', async (_what, name, mp3, mp4) => {
    const { body } = await shared.info(`${sharedSite.url}/fixture/${name}`);
    const downloads = body['downloads'] as { target: string; formatIds: string[] }[];
    const ids = (target: string) =>
      downloads.find((download) => download.target === target)?.formatIds.at(-1);
    expect({ mp3: ids('mp3'), mp4: ids('mp4-720') }).toEqual({ mp3, mp4 });
  });

  let sharedSite: Site;
  let shared: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    sharedSite = await startSite();
    shared = await startService(
      { ALLOWED_PRIVATE_SOURCES: sharedSite.host },
      { engineScript: fixtureEngine },
    );
  });
  afterAll(async () => {
    await shared[Symbol.asyncDispose]();
    await sharedSite.close();
  });
});

describe('a site that refuses its media for good', () => {
  it('is an error after one renewal, soon', async () => {
    const site = await startSite();
    let refused = 0;
    site.on('/media/refused.mp4', (_req, res) => {
      refused += 1;
      res.writeHead(403).end();
    });
    await using service = await startService(
      { ALLOWED_PRIVATE_SOURCES: site.host },
      { engineScript: fixtureEngine },
    );
    const refusal = await request(service.url)
      .get('/api/stream/video')
      .query({ url: `${site.url}/fixture/refused` });
    expect(refusal.body).toMatchObject({
      code: 'upstream_error',
      detail: expect.stringContaining('refuses') as string,
    });
    expect(service.context.extraction.extractions).toBe(2);
    expect(refused).toBeLessThanOrEqual(6);
    await site.close();
  });
});
