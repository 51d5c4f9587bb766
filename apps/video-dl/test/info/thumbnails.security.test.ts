import { type Site, startSite } from '@media-services/fault-site';
import { startService, type TestService } from '../support/service.js';

describe('the thumbnail of a page', () => {
  let site: Site;
  let service: TestService;

  beforeAll(async () => {
    site = await startSite();
    site.on('/pictured', (req, res) => {
      const picture = new URL(req.url ?? '', 'http://x').searchParams.get('picture') ?? '';
      res.writeHead(200, { 'content-type': 'text/html' });
      res.end(
        `<html><head><title>Pictured</title><meta property="og:image" content="${picture}"></head>` +
          '<body><video src="/media/front.mp4"></video></body></html>',
      );
    });
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const thumbnailOf = async (picture: string): Promise<unknown> => {
    const page = `${site.url}/pictured?${new URLSearchParams({ picture }).toString()}`;
    return (await service.info(page)).body['thumbnail'];
  };

  it('is told where it can be loaded', async () => {
    expect(await thumbnailOf(`${site.url}/media/cover.jpg`)).toBe(`${site.url}/media/cover.jpg`);
  });

  it.each([
    'http://127.0.0.1:1/router.jpg',
    'http://10.0.0.1/router.jpg',
    'http://[::1]/x.jpg',
    'http://169.254.169.254/x',
  ])('is left out where it leads into a private network (%s)', async (picture) => {
    expect(await thumbnailOf(picture)).toBeNull();
  });
});
