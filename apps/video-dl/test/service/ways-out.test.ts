import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Site, startSite } from '@media-services/fault-site';
import { parsePageUrl } from '../../src/extract/page-url.js';
import { interpreters } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';

/** An outbound proxy that remembers where it connects. */
async function startProxy() {
  const targets: string[] = [];
  const server = createServer();
  server.on('connect', (request, client) => {
    targets.push(request.url ?? '');
    const [host = '', port = ''] = (request.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    targets,
    close: () => server.close(),
  };
}

describe.each(await interpreters())('outgoing requests with yt-dlp $ytDlp', ({ python }) => {
  let site: Site;

  beforeAll(async () => (site = await startSite()));
  afterAll(async () => site.close());

  it("send the operator's cookies to their site, and leave the file unchanged", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cookies-'));
    const file = join(folder, 'cookies.txt');
    const content = [
      '# Netscape HTTP Cookie File',
      '127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tsession\tof-the-operator',
      'elsewhere.example\tFALSE\t/\tFALSE\t4102444800\tother\tnot-for-you',
      '',
    ].join('\n');
    await writeFile(file, content);
    site.on('/members', (_req, res) => {
      res.setHeader('set-cookie', 'session=changed-by-the-site; Path=/');
      res
        .setHeader('content-type', 'text/html')
        .end('<title>Members</title><video src="/media/front.mp4?members"></video>');
    });
    {
      await using service = await startService({
        ALLOWED_PRIVATE_SOURCES: site.host,
        YTDLP_PYTHON: python,
        COOKIES_FILE: file,
      });
      expect(await service.info(`${site.url}/members`)).toMatchObject({ status: 200 });
      expect(await service.info(`${site.url}/members?again=1`)).toMatchObject({ status: 200 });
    }
    const pages = site.requests.filter(({ path }) => path === '/members');
    expect(pages.map(({ headers }) => headers.cookie)).toEqual([
      'session=of-the-operator',
      'session=of-the-operator',
    ]);
    const media = site.requests.find(
      ({ path, query }) => path === '/media/front.mp4' && query.has('members'),
    );
    expect(media?.headers.cookie).toBe('session=changed-by-the-site');
    await expect(readFile(file, 'utf8')).resolves.toBe(content);
    await rm(folder, { recursive: true });
  });

  describe('with two outbound proxies', () => {
    let proxies: Awaited<ReturnType<typeof startProxy>>[];
    let service: TestService;

    beforeAll(async () => {
      proxies = await Promise.all([startProxy(), startProxy()]);
      service = await startService({
        ALLOWED_PRIVATE_SOURCES: site.host,
        YTDLP_PYTHON: python,
        OUTBOUND_PROXY: proxies.map(({ url }) => url).join(','),
      });
    });
    afterAll(async () => {
      await service[Symbol.asyncDispose]();
      for (const proxy of proxies) proxy.close();
    });

    it('use the first one for pages and media', async () => {
      expect(await service.info(`${site.url}/watch?by=proxy`)).toMatchObject({
        status: 200,
        body: { duration: 4 },
      });
      const [first, second] = proxies.map(({ targets }) => targets);
      expect(first?.length).toBeGreaterThanOrEqual(2);
      expect(new Set(first)).toEqual(new Set([site.host]));
      expect(second).toEqual([]);
    });

    it('switch to the next one, including media, when a site blocks one', async () => {
      let requests = 0;
      site.on('/picky', (_req, res) => {
        requests += 1;
        if (requests === 1) res.writeHead(429).end();
        else
          res
            .setHeader('content-type', 'text/html')
            .end('<title>Picky</title><video src="/media/front.mp4?picky"></video>');
      });
      const [first, second] = proxies.map(({ targets }) => targets);
      const before = first?.length ?? 0;
      const { status } = await service.get('/api/stream', { url: `${site.url}/picky` });
      expect(status).toBe(200);
      expect(first).toHaveLength(before + 1);
      expect(second?.length).toBeGreaterThanOrEqual(2);
      await service.info(`${site.url}/watch?after=picky`);
      expect(first).toHaveLength(before + 1);
    });
  });

  it('give streams whose URL expired the same new URL with one extraction', async () => {
    let number = 0;
    site.on('/renewed', (_req, res) => {
      number += 1;
      res
        .setHeader('content-type', 'text/html')
        .end(`<title>New</title><video src="/media/front.mp4?number=${number}"></video>`);
    });
    await using service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host, YTDLP_PYTHON: python });
    const { signal } = new AbortController();
    const { extraction } = service.context;
    const first = await extraction.extract(parsePageUrl(`${site.url}/renewed`), { signal });
    const [source] = first.formats.map((format) => format.source);
    if (source === undefined) throw new Error('the page offers nothing');
    const renew = async () => extraction.renew(parsePageUrl(`${site.url}/renewed`), source, { signal });
    const renewed = await Promise.all([renew(), renew()]);
    renewed.push(await renew());
    expect(renewed.map((fresh) => new URL(fresh.url).search)).toEqual([
      '?number=2',
      '?number=2',
      '?number=2',
    ]);
    expect(extraction.extractions).toBe(2);
  });
});
