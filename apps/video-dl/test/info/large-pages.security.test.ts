import { type Site, startSite } from '@media-services/fault-site';
import { startService, type TestService } from '../support/service.js';

describe('a page without end', () => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    site.on('/endless', (_req, res) => {
      res.on('error', () => undefined);
      res.writeHead(200, { 'content-type': 'text/html' });
      const more = (): void => void res.write(`<p>${'endless '.repeat(8000)}</p>`, more);
      more();
    });
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host, MAX_PAGE_BYTES: '2MiB' });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  it('is given up at MAX_PAGE_BYTES, with an error that says so, and the engine goes on', async () => {
    const answer = await service.info(`${site.url}/endless`);
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    expect(answer.body['detail']).toContain('MAX_PAGE_BYTES');
    expect((await service.info(`${site.url}/missing`)).body['code']).toBe('video_not_found');
  });
});
