import { createGuard } from '@media-services/egress-guard';
import { startSite, type Site } from '@media-services/fault-site';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { Transfer } from '../../src/upstream/transfer.js';
import { Upstream } from '../../src/upstream/upstream.js';

const signal = new AbortController().signal;

describe('a URL that leads each request to another file', () => {
  let site: Site;
  let episodes: number;
  let gone: number;
  const upstream = new Upstream({
    guard: createGuard({ allowedPrivateSources: ['127.0.0.0/8'] }),
    logger: silentLogger,
  });
  const source = (): MediaSource => ({
    url: `${site.url.replace('0.0.0.0', '127.0.0.1')}/episode`,
    headers: { Authorization: 'secret' },
    kind: 'file',
  });

  beforeAll(async () => {
    site = await startSite({
      content: (request, response, { pathname, searchParams }) => {
        if (pathname === '/episode') {
          episodes += 1;
          // Another origin: it must not see what is meant for the first.
          const host = (request.headers.host ?? '').replace('127.0.0.1', '127.0.0.2');

          response.writeHead(302, { location: `http://${host}/stitched?n=${episodes}` }).end();
          return;
        }
        const number = Number(searchParams.get('n'));
        if (number <= gone) response.writeHead(410).end();
        else response.writeHead(200).end(`episode ${number} ${request.headers.authorization ?? ''}`);
      },
      host: '0.0.0.0',
    });
  });
  beforeEach(() => {
    [episodes, gone] = [0, 0];
  });
  afterAll(async () => site.close());

  const read = async (from: MediaSource): Promise<string> => {
    const transfer = await Transfer.open(upstream.object(from, { signal, client: '' }), null, signal);
    return (await transfer.bytes(1000)).toString();
  };

  it('is followed once per source', async () => {
    const one = source();
    expect(await read(one)).toBe('episode 1 ');
    expect(await read(one)).toBe('episode 1 ');
    expect(await read(source())).toBe('episode 2 ');
    expect(episodes).toBe(2);
  });

  it('is followed again once the file that it led to is gone', async () => {
    const one = source();
    expect(await read(one)).toBe('episode 1 ');
    gone = 1;
    expect(await read(one)).toBe('episode 2 ');
    expect(await read(one)).toBe('episode 2 ');
    expect(episodes).toBe(2);
  });
});
