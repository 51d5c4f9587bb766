import { once } from 'node:events';
import { DomainError } from '@media-services/http-common';
import type { RelaySession } from '../../src/relay/session.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { blockedHosts } from '../../../../packages/egress-guard/test/support/addresses.js';
import {
  fileSize,
  fileSource,
  hash,
  readInput,
  readSource,
  requestInput,
  startBench,
  type Bench,
} from './support/bench.js';

let bench: Bench;
let counter = 0;

beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A unique URL of the test file, because faults are counted per URL. */
const media = (query = '') => `${bench.site}/file.mp4?n=${counter++}${query === '' ? '' : `&${query}`}`;

async function relayed(
  query: string,
  more: Partial<MediaSource> = {},
  headers: Record<string, string> = { range: 'bytes=0-' },
  renew?: () => Promise<MediaSource>,
) {
  const session = bench.session(renew);
  const before = bench.requests.length;
  const reading = await readSource(session, fileSource(media(query), more), headers);
  return { session, ...reading, asked: bench.requests.slice(before) };
}

const isComplete = ({ body, isClean }: { body: Buffer; isClean: boolean }) =>
  isClean && hash(body) === hash(bench.file);

describe('a file through the relay', () => {
  it('arrives unchanged, with its size and type', async () => {
    const reading = await relayed('', {}, {});
    expect(reading.status).toBe(200);
    expect(isComplete(reading)).toBe(true);
    expect(reading.headers.get('content-length')).toBe(String(fileSize));
    expect(reading.headers.get('accept-ranges')).toBe('bytes');
    expect(reading.headers.get('content-type')).toBe('video/mp4');
    expect(reading.session.bytesReceived).toBe(fileSize);
    expect(reading.session.allReceived()).toBe(true);
    expect(reading.session.failure).toBeUndefined();
  });

  it.each([
    ['bytes=0-', 0, fileSize - 1],
    ['bytes=1000-', 1000, fileSize - 1],
    ['bytes=1000-1999', 1000, 1999],
    ['bytes=2999999-', fileSize - 1, fileSize - 1],
    ['bytes=2999990-9999999', 2_999_990, fileSize - 1],
  ])('supports the range %s', async (range, start, end) => {
    const reading = await relayed('', {}, { range });
    expect(reading.status).toBe(206);
    expect(reading.headers.get('content-range')).toBe(`bytes ${start}-${end}/${fileSize}`);
    expect(reading.body.equals(bench.file.subarray(start, end + 1))).toBe(true);
    expect(reading.session.bytesReceived).toBe(end - start + 1);
  });

  it.each(['', 'ignoreRange'])(
    'returns 416 for a range past the end, which is not a failure (%s)',
    async (query) => {
      const reading = await relayed(query, {}, { range: `bytes=${fileSize}-` });
      expect(reading.status).toBe(416);
      expect(reading.session.failure).toBeUndefined();
    },
  );

  it('supports ranges if the server ignores them', async () => {
    const reading = await relayed('ignoreRange', {}, { range: 'bytes=2000000-2000999' });
    expect(reading.status).toBe(206);
    expect(reading.body.equals(bench.file.subarray(2_000_000, 2_001_000))).toBe(true);
  });

  it('is not requested again and again for a reader that returns to one place for every byte', async () => {
    const session = bench.session();
    const before = bench.requests.length;
    const [input] = await session.add(fileSource(media()));
    let reads = 0;
    while (session.failure === undefined) {
      reads += 1;
      const response = await requestInput(session, input?.url ?? '', { range: 'bytes=0-9' }).catch(
        () => null,
      );
      response?.resume();
      if (response !== null) await once(response, 'close');
    }
    expect(session.failure).toMatchObject({ code: 'no_media' });
    expect(reads).toBeGreaterThan(50);
    expect(bench.requests.length - before).toBeLessThan(reads);
  });

  it("is requested with the extractor's headers and cookies", async () => {
    const { asked } = await relayed('', {
      headers: {
        'User-Agent': 'Extractor/1',
        Referer: 'https://x.example/',
        Host: 'evil',
        'Accept-Encoding': 'gzip',
      },
      cookies: [
        { name: 'a', value: '1', domain: '127.0.0.1', path: '/', secure: false },
        { name: 'b', value: 'x;y', domain: '127.0.0.1', path: '/other', secure: false },
        { name: 'c', value: '3', domain: '.example.org', path: '/', secure: false },
        { name: 'd', value: '4', domain: '127.0.0.1', path: '/', secure: true },
      ],
    });
    expect(asked[0]?.headers).toMatchObject({
      'user-agent': 'Extractor/1',
      referer: 'https://x.example/',
      host: bench.host,
      cookie: 'a=1',
      'accept-encoding': 'identity',
      range: 'bytes=0-',
    });
  });

  it('is requested in chunks if the extractor says so', async () => {
    const reading = await relayed('', { chunkBytes: 1_000_000 });
    expect(isComplete(reading)).toBe(true);
    expect(reading.asked.map(({ headers }) => headers.range)).toEqual([
      'bytes=0-999999',
      'bytes=1000000-1999999',
      'bytes=2000000-2999999',
    ]);
    expect(reading.asked[1]?.headers['if-range']).toMatch(/^"/);
  });

  it('is read to the end if the server ignores the chunks', async () => {
    const reading = await relayed('ignoreRange', { chunkBytes: 1_000_000 });
    expect(isComplete(reading)).toBe(true);
    expect(reading.asked).toHaveLength(1);
  });

  it('without a length is complete when it ends cleanly', async () => {
    const reading = await relayed('chunked&ignoreRange');
    expect(reading.status).toBe(200);
    expect(reading.headers.get('accept-ranges')).toBeNull();
    expect(isComplete(reading)).toBe(true);
  });

  it.each(['POST', 'PUT', 'DELETE'])('rejects %s', async (method) => {
    const session = bench.session();
    const [input] = await session.add(fileSource(media()));
    expect((await requestInput(session, input?.url ?? '', {}, method)).statusCode).toBe(405);
  });
});

describe('the relay recovers from', () => {
  it.each([
    ['a connection that breaks once', 'cut=1000000&times=1'],
    ['a connection that breaks twice at the same byte', 'cut=1000000&times=2'],
    ['a connection that breaks before the first byte', 'cut=0&times=1'],
    ['a connection that breaks at the last byte', `cut=${fileSize - 1}&times=1`],
    ['a connection that breaks repeatedly, further on each time', 'cutEvery=200000'],
    ['a connection that breaks on a server without ranges', 'cut=1000000&times=1&ignoreRange'],
    ['a connection that breaks on a server that states no length', 'cut=1000000&times=1&chunked'],
    [
      'one that breaks, neither ranges nor length, but the same validators',
      'cut=1000000&times=1&chunked&ignoreRange',
    ],
    ['a changed modification date with the same strong ETag', 'cutEvery=1000000&modified=change'],
    ['a server that stalls once', 'stall=1000000&times=1'],
    ['a server that is unavailable at first', 'status=503&times=2'],
    ['a server that limits the rate at first', 'status=429&times=1'],
    ['a length that is too large, then a connection that breaks', 'length=0&cut=5&times=1'],
  ])('%s', async (_what, query) => {
    const reading = await relayed(query);
    expect(isComplete(reading)).toBe(true);
    expect(reading.session.failure).toBeUndefined();
    expect(reading.session.allReceived()).toBe(true);
  });

  it('a URL that expires, by extracting again and continuing at the same byte', async () => {
    let renewals = 0;
    const renew = () => {
      renewals += 1;
      return Promise.resolve(fileSource(media('expire=1200000'), { headers: { 'x-new': '1' } }));
    };
    const { asked, ...reading } = await relayed('expire=1200000', {}, undefined, renew);
    expect(isComplete(reading)).toBe(true);
    expect(renewals).toBe(2);
    expect(asked.at(-1)?.headers).toMatchObject({ 'x-new': '1', range: 'bytes=2400000-2999999' });
    expect(reading.session.bytesReceived).toBe(fileSize);
  });

  it('a URL that has expired before it is read', async () => {
    const renew = () => Promise.resolve(fileSource(media()));
    expect(isComplete(await relayed('status=410', {}, undefined, renew))).toBe(true);
  });

  it('redirects within the limit', async () => {
    expect(isComplete(await relayed(`redirect=${encodeURIComponent(media())}`))).toBe(true);
  });

  it('breaks within a chunk', async () => {
    expect(isComplete(await relayed('cut=1500000&times=1', { chunkBytes: 1_000_000 }))).toBe(true);
  });
});

describe('the relay reports', () => {
  it.each([
    ['a server that is unavailable', 'status=503', 'upstream_error'],
    ['a server that limits the rate', 'status=429', 'upstream_rate_limited'],
    ['a file that is gone', 'status=404', 'video_not_found'],
    ['a file that is blocked', 'status=451', 'geo_blocked'],
    [
      'a redirect to a private address',
      'redirect=http%3A%2F%2F169.254.169.254%2Flatest',
      'forbidden_address',
    ],
    ['a redirect to a file', 'redirect=file%3A%2F%2F%2Fetc%2Fpasswd', 'upstream_error'],
  ])('before the first byte: %s', async (_what, query, code) => {
    const { session, isClean, status, body } = await relayed(query, {}, {});
    expect({ status, isClean, body: body.toString() }).toEqual({ status: 502, isClean: true, body: '' });
    await expectFailure(session, code);
  });

  it.each([
    ['a connection that always breaks at the same byte', 'cut=1000000', 'upstream_error'],
    ['a server that always stalls', 'stall=1000000', 'upstream_timeout'],
    ['a URL that has expired and cannot be renewed', 'expire=1000000', 'upstream_error'],
    ['a wrong Content-Range on resumption', 'cutEvery=1000000&wrongRange', 'upstream_error'],
    ['a changed ETag', 'cutEvery=1000000&etag=change&modified=change', 'upstream_error'],
    [
      'a changed ETag without ranges',
      'cutEvery=1000000&etag=change&modified=change&ignoreRange',
      'upstream_error',
    ],
    ['a changed size', 'cutEvery=1000000&size=change', 'upstream_error'],
    ['a Content-Length that is too large', 'length=1000', 'upstream_error'],
  ])('after correct bytes: %s', async (_what, query, code) => {
    const { session, isClean, status, body } = await relayed(query, {}, {});
    expect({ status, isClean }).toEqual({ status: 200, isClean: false });
    expect(body.equals(bench.file.subarray(0, body.length))).toBe(true);
    await expectFailure(session, code);
  });

  async function expectFailure(session: RelaySession, code: string): Promise<void> {
    expect(session.failure).toMatchObject({ name: 'DomainError', code });
    await expect(session.failed).resolves.toBe(session.failure);
    expect(session.allReceived()).toBe(false);
  }

  it.each(['length=-1000', 'length=1000'])(
    'a part that contradicts itself about its length (%s)',
    async (query) => {
      const { session } = await relayed(query);
      expect(session.failure?.message).toContain('contradicted itself');
    },
  );

  it('endless redirects', async () => {
    bench.on('/loop', (_request, response) => void response.writeHead(302, { location: '/loop' }).end());
    const session = bench.session();
    await readSource(session, fileSource(`${bench.site}/loop`));
    expect(session.failure).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('redirected') as string,
    });
  });

  it.each([
    ['with another size', 'size=change&cutEvery=1000000'],
    ['with another version', 'etag=change&modified=change&cutEvery=1000000'],
  ])('a renewed URL %s', async (_what, query) => {
    const fresh = media(query);
    await fetch(fresh).then(
      (response) => response.arrayBuffer().catch(() => undefined),
      () => undefined,
    );
    const { session, isClean } = await relayed('expire=1000000', {}, undefined, () =>
      Promise.resolve(fileSource(fresh)),
    );
    expect(isClean).toBe(false);
    expect(session.failure?.message).toMatch(/changed the (?:size|version)/);
  });

  it('the error of a failed renewal', async () => {
    const renew = () => Promise.reject(new DomainError('private_video', 'It is private now.'));
    const { session, isClean } = await relayed('expire=1000000', {}, undefined, renew);
    expect(isClean).toBe(false);
    expect(session.failure).toMatchObject({ code: 'private_video' });
  });

  it('a bug of ours as an internal error, without a retry', async () => {
    let renewals = 0;
    const renew = () => {
      renewals += 1;
      return Promise.reject(new TypeError('x is not a function'));
    };
    const { session } = await relayed('expire=1000000', {}, undefined, renew);
    expect(session.failure).toMatchObject({
      code: 'internal_error',
      cause: expect.any(TypeError) as unknown,
    });
    expect(renewals).toBe(1);
  });

  it('a Retry-After that is too long to wait', async () => {
    bench.on('/pause', (_request, response) => {
      response.writeHead(503, { 'retry-after': '3600' }).end();
    });
    const session = bench.session();
    const before = bench.requests.length;
    expect((await readSource(session, fileSource(`${bench.site}/pause`))).status).toBe(502);
    expect(bench.requests.length - before).toBe(1);
  });

  it('an endless body, at the size limit', async () => {
    const relay = await bench.otherRelay({ maxBytes: 1_000_000 });
    const session = relay.open({ signal: new AbortController().signal, client: 'test' });
    const { isClean } = await readSource(session, fileSource(media('endless')));
    expect(isClean).toBe(false);
    expect(session.failure).toMatchObject({ code: 'too_long' });
    expect(session.bytesReceived).toBeLessThan(1_200_000);
  });

  it('a size above the limit, before any byte', async () => {
    const relay = await bench.otherRelay({ maxBytes: 1_000_000 });
    const session = relay.open({ signal: new AbortController().signal, client: 'test' });
    expect((await readSource(session, fileSource(media()))).status).toBe(502);
    expect(session.failure).toMatchObject({ code: 'too_long' });
  });

  it('a server that never responds', async () => {
    const relay = await bench.otherRelay({ firstByteTimeoutMs: 50 });
    bench.on('/silent', () => undefined);
    const session = relay.open({ signal: new AbortController().signal, client: 'test' });
    await readSource(session, fileSource(`${bench.site}/silent`));
    expect(session.failure).toMatchObject({ code: 'upstream_timeout' });
  });

  it('a failure to all later readers of the session', async () => {
    const { session } = await relayed('status=404');
    const reading = await readSource(session, fileSource(media()));
    expect(reading.status).toBe(502);
  });
});

describe('a relay session', () => {
  it('does not treat a reader that leaves as a failure, and closes the upstream connection', async () => {
    const session = bench.session();
    const upstreamClosed = new Promise<void>((resolve) =>
      bench.on('/held', (_request, response) => {
        response.once('close', () => resolve());
        response.writeHead(200, { 'content-length': 100 }).write('x');
      }),
    );
    const [input] = await session.add(fileSource(`${bench.site}/held`));
    (await requestInput(session, input?.url ?? '')).destroy();
    await upstreamClosed;
    expect(session.failure).toBeUndefined();
    expect(session.allReceived()).toBe(true);
  });

  it.each(['close', 'abort'])('destroys both sides on %s, even while it waits to retry', async (how) => {
    const owner = new AbortController();
    const relay = await bench.otherRelay({ retryDelayMs: 60_000, maxRetryDelayMs: 60_000 });
    const session = relay.open({ signal: owner.signal, client: 'test' });
    const held = new Promise<Promise<unknown>>((resolve) =>
      bench.on('/held', (_request, response) => {
        resolve(once(response, 'close'));
        response.writeHead(200, { 'content-length': 100 }).write('x');
      }),
    );
    const sources = [fileSource(`${bench.site}/held`), fileSource(media('status=503'))];
    const readers = sources.map(async (source) => {
      const [input] = await session.add(source);
      await readInput(session, input?.url ?? '').catch(() => undefined);
    });
    const upstream = await held;
    if (how === 'close') session.close();
    else owner.abort();
    await Promise.all([...readers, upstream]);
    expect(session.failure).toBeUndefined();
  });

  it('delivers and accepts nothing once it is closed', async () => {
    const session = bench.session();
    const [input] = await session.add(fileSource(media()));
    session.close();
    expect((await readInput(session, input?.url ?? '')).status).toBe(407);
    await expect(session.add(fileSource(media()))).rejects.toThrow(/closed/);
  });

  it('reads upstream no faster than its reader', async () => {
    let sent = 0;
    bench.on('/fast', (_request, response) => {
      response.writeHead(200, { 'content-length': 1e9 });
      const chunk = Buffer.alloc(64 * 1024);
      const fill = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      response.on('drain', fill);
      fill();
    });
    const session = bench.session();
    const [input] = await session.add(fileSource(`${bench.site}/fast`));
    const response = await requestInput(session, input?.url ?? '');
    await once(response, 'readable');
    // The kernel's buffers fill, then everything stops: two equal readings 200 ms apart.
    let before = -1;
    while (before !== session.bytesReceived) {
      before = session.bytesReceived;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(session.bytesReceived).toBeLessThan(32 * 1024 ** 2);
    expect(sent).toBeLessThan(64 * 1024 ** 2);
    response.destroy();
    session.close();
  });
});

describe('a file that is read ahead', () => {
  const start = 'bytes=0-';

  it('is requested before its reader asks, and only once', async () => {
    const session = bench.session();
    const before = bench.requests.length;
    const requested = new Promise<void>((resolve) =>
      bench.on('/ahead', (request, response) => {
        expect(request.headers.range).toBe(start);
        response.writeHead(206, { 'content-range': 'bytes 0-4/5', 'content-length': 5 }).end('ahead');
        resolve();
      }),
    );
    const [input] = await session.add(fileSource(`${bench.site}/ahead`));
    input?.readAhead?.();
    await requested;
    const reading = await readInput(session, input?.url ?? '', { range: start });
    expect(String(reading.body)).toBe('ahead');
    expect(bench.requests.length - before).toBe(1);
    expect(session.bytesReceived).toBe(5);
  });

  it('is not used for another part', async () => {
    const session = bench.session();
    const [input] = await session.add(fileSource(media()));
    input?.readAhead?.();
    const part = await readInput(session, input?.url ?? '', { range: 'bytes=1000-1999' });
    expect(part.body.equals(bench.file.subarray(1000, 2000))).toBe(true);
    expect(isComplete(await readInput(session, input?.url ?? '', { range: start }))).toBe(true);
  });

  it('reports its failure to its reader', async () => {
    const session = bench.session();
    const [input] = await session.add(fileSource(media('status=404')));
    input?.readAhead?.();
    expect((await readInput(session, input?.url ?? '', { range: start })).status).toBe(502);
    expect(session.failure?.code).toBe('video_not_found');
  });

  it('closes the upstream connection when its reader leaves', async () => {
    const session = bench.session();
    const upstreamClosed = new Promise<void>((resolve) =>
      bench.on('/held-ahead', (_request, response) => {
        response.once('close', () => resolve());
        response.writeHead(200, { 'content-length': 100 }).write('x');
      }),
    );
    const [input] = await session.add(fileSource(`${bench.site}/held-ahead`));
    input?.readAhead?.();
    (await requestInput(session, input?.url ?? '', { range: start })).destroy();
    await upstreamClosed;
    expect(session.failure).toBeUndefined();
  });
});

describe('a private address', () => {
  it.each(blockedHosts)('is rejected: %s (%s)', async (host) => {
    const session = bench.session();
    expect((await readSource(session, fileSource(`http://${host}:81/x.mp4`))).status).toBe(502);
    expect(session.failure?.code).toBe('forbidden_address');
  });

  it('is rejected when a name resolves to it the second time', async () => {
    let lookups = 0;
    const lookup = () => Promise.resolve([{ address: lookups++ === 0 ? '127.0.0.1' : '10.0.0.1' }]);
    const port = new URL(bench.site).port;
    const relay = await bench.otherRelay({}, { allowedPrivateSources: ['127.0.0.1/32'], lookup });
    const session = relay.open({ signal: new AbortController().signal, client: 'test' });
    const source = fileSource(`http://rebinding.example:${port}/file.mp4?cut=1000000`);
    expect((await readSource(session, source)).isClean).toBe(false);
    expect(lookups).toBe(2);
    expect(session.failure?.code).toBe('forbidden_address');
  });
});
