import { media, type Site, startSite } from '@media-services/fault-site';
import { readFile } from 'node:fs/promises';
import { startService, type TestService } from '../support/service.js';

/** Media whose server refuses, drips or recovers while the service looks into their header. */
describe('a look into media', () => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    service = await startService({
      ALLOWED_PRIVATE_SOURCES: site.host,
      EXTRACTION_TIMEOUT_SECONDS: '6',
    });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  const page = (title: string, mediaPath: string): string => {
    const path = `/page-${title}`;
    site.on(path, (_req, res) => {
      res.setHeader('content-type', 'text/html');
      res.end(`<title>${title}</title><video src="${mediaPath}"></video>`);
    });
    return site.url + path;
  };

  it('that answers 403 is an error after one extraction, and a page again once the site is healthy', async () => {
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

  it('that answers 403 for a rendition of a playlist is an error too', async () => {
    site.on('/master.m3u8', (_req, res) => {
      res.setHeader('content-type', 'application/vnd.apple.mpegurl');
      res.end('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\n/rendition.m3u8\n');
    });
    site.on('/rendition.m3u8', (_req, res) => void res.writeHead(403).end());
    const answer = await service.info(`${site.url}/master.m3u8`);
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
  });

  it('that drip ends at the limit of the look', async () => {
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
    const answer = await service.info(page('drip', '/drip.mp4'));
    expect(answer).toMatchObject({ status: 504, body: { code: 'upstream_timeout' } });
    await ended;
  });

  it('is under the deadline of the extraction as a whole', async () => {
    await using hasty = await startService({
      ALLOWED_PRIVATE_SOURCES: site.host,
      EXTRACTION_TIMEOUT_SECONDS: '4',
    });
    site.on('/silent.mp4', () => undefined);
    const answer = await hasty.info(page('silent', '/silent.mp4'));
    expect(answer).toMatchObject({ status: 504, body: { code: 'upstream_timeout' } });
  });
});
