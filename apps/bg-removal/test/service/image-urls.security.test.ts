import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import request, { type Response } from 'supertest';
import { picture } from '../support/pictures.js';
import { problemOf, startWarmService, type TestService } from '../support/service.js';

let png: Buffer;
let site: Server;
let siteHost: string;
/** Paths requested from the site, in order. */
const asked: string[] = [];
/** Handlers by path. */
const pages = new Map<string, RequestListener>();
/** A server on another local port, which the operator has not allowed. */
let inside: Server;
let insideRequests = 0;

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;
const end = (server: Server) => {
  server.close();
  server.closeAllConnections();
};

beforeAll(async () => {
  png = await picture().png().toBuffer();
  site = await listen((req, res) => {
    asked.push(req.url ?? '');
    const page = pages.get(req.url ?? '');
    if (page) page(req, res);
    else res.writeHead(404).end();
  });
  siteHost = `127.0.0.1:${portOf(site)}`;
  inside = await listen((_req, res) => {
    insideRequests += 1;
    res.end(png);
  });
  pages.set('/cat.png', (_req, res) => res.end(png));
});
afterAll(() => {
  end(site);
  end(inside);
});

const postUrl = (service: TestService, url: string, fields: Record<string, string> = {}): Promise<Response> =>
  Promise.resolve(
    request(service.url)
      .post('/api/remove-background')
      .field({ ...fields, image_url: url }),
  );

describe('disabled (the default)', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startWarmService({ ALLOWED_PRIVATE_SOURCES: siteHost });
  });
  afterAll(() => service.stop());

  test('explains that and fetches nothing', async () => {
    asked.length = 0;
    const problem = problemOf(await postUrl(service, `http://${siteHost}/cat.png`));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(problem.errors).toEqual([
      { field: 'image_url', message: expect.stringMatching(/"file".*IMAGE_URLS=true/) as string },
    ]);
    expect(asked).toEqual([]);
  });
});

describe('enabled', () => {
  let service: TestService;
  const maxFileBytes = 100_000;
  beforeAll(async () => {
    service = await startWarmService(
      {
        IMAGE_URLS: 'true',
        ALLOWED_PRIVATE_SOURCES: siteHost,
        IMAGE_MAX_BYTES: String(maxFileBytes),
        IMAGES_PER_MINUTE: '1000',
      },
      {
        paceWindowMs: 3000,
        lookup: (name) =>
          Promise.resolve(
            name === 'rebind.example' ? [{ address: '93.184.215.14' }, { address: '127.0.0.1' }] : [],
          ),
      },
    );
  });
  afterAll(() => service.stop());
  const post = (url: string, fields?: Record<string, string>) => postUrl(service, url, fields);
  const remaining = (response: Response) => Number(/r=(\d+)/.exec(response.get('ratelimit') ?? '')?.[1]);

  test('returns the same as an upload of the same file, named after the URL', async () => {
    const fetched = await post(`http://${siteHost}/cat.png`, { feather: '0' });
    const uploaded = await request(service.url)
      .post('/api/remove-background')
      .field({ feather: '0' })
      .attach('file', png, 'cat.png');
    expect(fetched.status).toBe(200);
    expect(fetched.get('content-disposition')).toBe('attachment; filename="cat.png"');
    expect(fetched.body).toEqual(uploaded.body);
    expect(fetched.get('server-timing')).toMatch(/fetch;dur=/);
  });

  test('counts each fetch towards the rate limit, including failed ones', async () => {
    const first = remaining(await post(`http://${siteHost}/cat.png`));
    expect(remaining(await post(`http://${siteHost}/missing.png`))).toBe(first - 1);
    expect(remaining(await post(`http://127.0.0.1:${portOf(inside)}/cat.png`))).toBe(first - 2);
    // Nothing was fetched.
    expect(remaining(await post('not a url'))).toBe(first - 2);
  });

  test('follows redirects', async () => {
    pages.set('/moved', (_req, res) => res.writeHead(302, { location: '/cat.png' }).end());
    expect((await post(`http://${siteHost}/moved`)).status).toBe(200);
  });

  test.each([
    ['UTF-8', 'utf8', '/chat-no%C3%A9.png'],
    ['Latin-1', 'latin1', '/chat-no%C3%A9.png'],
  ] as const)('follows a redirect with a raw %s path', async (_what, encoding, target) => {
    const location = Buffer.from('/chat-noé.png', encoding).toString('latin1');
    pages.set('/raw', (_req, res) => res.writeHead(302, { location }).end());
    pages.set(target, (_req, res) => res.end(png));
    expect((await post(`http://${siteHost}/raw`)).status).toBe(200);
  });

  test.each([
    ['an address of this machine', () => `http://127.0.0.1:${portOf(inside)}/`],
    ['a different notation of it', () => `http://2130706433:${portOf(inside)}/`],
    ['IPv6', () => `http://[::ffff:127.0.0.1]:${portOf(inside)}/`],
    ['the metadata address of clouds', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a name with a private address among its addresses', () => `http://rebind.example:${portOf(inside)}/`],
  ])('never connects to %s', async (_what, url) => {
    const problem = problemOf(await post(url()));
    expect(problem).toMatchObject({ status: 403, code: 'forbidden_address' });
    expect(insideRequests).toBe(0);
  });

  test('checks each redirect again', async () => {
    pages.set('/trap', (_req, res) =>
      res.writeHead(302, { location: `http://127.0.0.1:${portOf(inside)}/` }).end(),
    );
    expect(problemOf(await post(`http://${siteHost}/trap`))).toMatchObject({ code: 'forbidden_address' });
    pages.set('/file', (_req, res) => res.writeHead(302, { location: 'file:///etc/passwd' }).end());
    expect(problemOf(await post(`http://${siteHost}/file`))).toMatchObject({ code: 'upstream_error' });
    expect(insideRequests).toBe(0);
  });

  test.each([
    ['', 200],
    ['Identity', 200],
    ['aws-chunked', 200],
    ['gzip', 502], // and isn't
    ['zstd', 502],
  ])('Content-Encoding "%s" of the site is %d', async (encoding, status) => {
    pages.set('/encoded', (_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(png));
    expect((await post(`http://${siteHost}/encoded`)).status).toBe(status);
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('reads an image that the site compressed with %s, within the same limit', async (encoding, compress) => {
    const send = (file: Buffer) => {
      const packed = compress(file);
      pages.set('/packed', (_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(packed));
      return post(`http://${siteHost}/packed`);
    };
    expect((await send(png)).status).toBe(200);
    const bomb = Buffer.concat([png, Buffer.alloc(5_000_000)]);
    expect(problemOf(await send(bomb))).toMatchObject({ code: 'file_too_large' });
    const cut = compress(png).subarray(0, -12);
    pages.set('/packed', (_req, res) => res.writeHead(200, { 'content-encoding': encoding }).end(cut));
    expect(problemOf(await post(`http://${siteHost}/packed`))).toMatchObject({ code: 'upstream_error' });
  });

  test.each([
    [404, 'image_not_found', false],
    [403, 'image_not_found', false],
    [429, 'upstream_error', true],
    [503, 'upstream_error', true],
  ])('HTTP %d from the site is %s, retryable: %s', async (status, code, retryable) => {
    pages.set('/failing', (_req, res) => res.writeHead(status).end());
    expect(problemOf(await post(`http://${siteHost}/failing`))).toMatchObject({ code, retryable });
  });

  test('asks for the formats that it reads, so that a site which can choose sends no AVIF', async () => {
    let accept: string | undefined;
    pages.set('/choice', (req, res) => {
      ({ accept } = req.headers);
      res.end(png);
    });
    expect((await post(`http://${siteHost}/choice`)).status).toBe(200);
    expect(accept).toBe('image/jpeg, image/png, image/webp, */*;q=0.1');
  });

  test('gives up after five redirects', async () => {
    asked.length = 0;
    pages.set('/loop', (_req, res) => res.writeHead(302, { location: '/loop' }).end());
    expect(problemOf(await post(`http://${siteHost}/loop`))).toMatchObject({ code: 'upstream_error' });
    expect(asked).toHaveLength(6);
  });

  test('rejects a file that is too large by its length, or while reading', async () => {
    pages.set('/stated', (_req, res) => {
      res.writeHead(200, { 'content-length': maxFileBytes + 1 });
      res.write(png);
    });
    expect(problemOf(await post(`http://${siteHost}/stated`))).toMatchObject({ code: 'file_too_large' });

    let sent = 0;
    let closed: Promise<unknown> = Promise.resolve();
    pages.set('/endless', (_req, res) => {
      closed = once(res, 'close');
      res.write(png);
      const more = () => {
        for (let room = true; room && !res.destroyed; sent += 16_384) room = res.write(Buffer.alloc(16_384));
      };
      res.on('drain', more);
      more();
    });
    expect(problemOf(await post(`http://${siteHost}/endless`))).toMatchObject({ code: 'file_too_large' });
    await closed;
    expect(sent).toBeLessThan(20_000_000);
  });

  test('stops at the first bytes if they are not an image', async () => {
    pages.set('/page', (_req, res) => {
      res.writeHead(200, { 'content-type': 'image/png' });
      res.write(`<!doctype html><html><body>${' '.repeat(8000)}`);
    });
    const problem = problemOf(await post(`http://${siteHost}/page`));
    expect(problem).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    expect(problem.detail).toContain('a web page');
  });

  test('a site that is too slow or silent is upstream_timeout long before the deadline', async () => {
    pages.set('/drip', (_req, res) => {
      res.write(png.subarray(0, 50));
      const timer = setInterval(() => res.write(png.subarray(50, 51)), 50);
      res.once('close', () => clearInterval(timer));
    });
    pages.set('/silent', () => undefined);
    for (const path of ['drip', 'silent']) {
      const problem = problemOf(await post(`http://${siteHost}/${path}`));
      expect(problem).toMatchObject({ status: 504, code: 'upstream_timeout' });
    }
  });

  test('a broken transfer is an error, not an image', async () => {
    pages.set('/cut', (_req, res) => {
      res.writeHead(200, { 'content-length': png.length });
      res.write(png.subarray(0, png.length - 20), () => res.destroy());
    });
    expect(problemOf(await post(`http://${siteHost}/cut`))).toMatchObject({ code: 'upstream_error' });
  });

  test('a site that does not exist or does not respond is upstream_unreachable', async () => {
    expect(problemOf(await post('http://nowhere.example/a.png'))).toMatchObject({
      code: 'upstream_unreachable',
    });
  });

  test.each([
    'ftp://example.org/a.png',
    'file:///etc/passwd',
    'http://user:password@example.org/a.png',
    `http://example.org/${'a'.repeat(2048)}`,
    'cat.png',
  ])('%.30s is no URL that can be sent', async (url) => {
    expect(problemOf(await post(url)).errors).toEqual([
      { field: 'image_url', message: expect.stringContaining('') as string },
    ]);
  });

  test('a file and a URL together are rejected', async () => {
    const response = await request(service.url)
      .post('/api/remove-background')
      .field({ image_url: `http://${siteHost}/cat.png` })
      .attach('file', png, 'cat.png');
    expect(problemOf(response).errors?.map(({ field }) => field)).toEqual(['image_url']);
  });

  test('ends the fetch when the client leaves', async () => {
    const begun = new Promise<Promise<unknown>>((resolve) => {
      pages.set('/slow', (_req, res) => {
        resolve(once(res, 'close'));
        res.write(png.subarray(0, 50));
      });
    });
    const sending = request(service.url)
      .post('/api/remove-background')
      .field({ image_url: `http://${siteHost}/slow` });
    sending.end(() => undefined);
    const closed = await begun;
    sending.abort();
    await closed;
  });
});
