import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@media-services/http-common';
import { Agent } from 'undici';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import { RemoteObject } from '../../src/upstream/remote-object.js';
import { RenewableSource } from '../../src/upstream/renewable-source.js';
import { Transfer } from '../../src/upstream/transfer.js';
import { defaultLimits, type UpstreamLimits } from '../../src/upstream/media-source.js';

const object = Buffer.from('0123456789');

/** The server's response to one request. The last of a list repeats. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

let site: ReturnType<typeof createServer>;
let origin: string;
let answers: Answer[];
let asked: IncomingMessage['headers'][];
const dispatcher = new Agent();

beforeAll(async () => {
  site = createServer((request, response) => {
    asked.push(request.headers);
    void (answers.length > 1 ? answers.shift() : answers[0])?.(request, response);
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  await dispatcher.destroy();
  const closed = once(site, 'close');
  site.close();
  site.closeAllConnections();
  await closed;
});

type Headers = Readonly<Record<string, string>>;

/** A whole response with a Content-Length and these headers. */
const whole =
  (headers: Headers = {}): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-length': object.length, ...headers }).end(object);

/** A whole response that a proxy changed. */
const changed: Answer = (_request, response) =>
  void response.writeHead(203, { 'content-length': object.length }).end(object);

/** A whole response without a length. */
const unmeasured: Answer = (_request, response) =>
  void response.writeHead(200).write(object, () => response.end());

/** The bytes of the object from `start` to `end`, as part of `total`. */
const part =
  (start: number, end: number, total: number | '*' = object.length, headers: Headers = {}): Answer =>
  (_request, response) =>
    void response
      .writeHead(206, {
        'content-range': `bytes ${start}-${end}/${total}`,
        'content-length': end - start + 1,
        ...headers,
      })
      .end(object.subarray(start, end + 1));

/** A partial response without a Content-Length that ends cleanly or breaks after `length` bytes. */
const cut =
  (
    start: number,
    end: number,
    length: number,
    how: 'ends' | 'breaks',
    total: number | '*' = object.length,
  ): Answer =>
  (_request, response) => {
    response.writeHead(206, { 'content-range': `bytes ${start}-${end}/${total}` });
    response.write(object.subarray(start, start + length), () => {
      if (how === 'ends') response.end();
      else response.destroy();
    });
  };

const compressed =
  (encoding: string, bytes: Buffer): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-encoding': encoding, 'content-length': bytes.length }).end(bytes);

/** The server states the size only with the whole file. */
const unsized = (headers: Headers = {}): Answer[] => [part(0, 9, '*', { etag: '"a"' }), whole(headers)];

const several: Answer = (_request, response) =>
  void response
    .writeHead(206, { 'content-type': 'multipart/byteranges; boundary=x' })
    .end('--x\r\nContent-Range: bytes 3-5/10\r\n\r\n345\r\n--x--');

const status =
  (code: number, headers: Headers = {}): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end();

interface Reading {
  readonly range?: { start: number; end: number | null } | null;
  readonly chunkBytes?: number;
  readonly limits?: Partial<UpstreamLimits>;
  readonly renew?: () => Promise<unknown>;
  readonly signal?: AbortSignal;
}

function open(list: readonly Answer[], reading: Reading = {}): Promise<Transfer> {
  answers = [...list];
  const { chunkBytes, renew } = reading;
  const source = { url: origin, headers: {}, kind: 'file', ...(chunkBytes && { chunkBytes }) } as const;
  const limits = { ...defaultLimits, retryDelayMs: 0, maxRetryDelayMs: 0, maxAttempts: 2, ...reading.limits };
  const context = { dispatcher, limits, logger: silentLogger, countReceived: () => undefined };
  const renewed = renew && (() => renew().then(() => source));
  const remote = new RemoteObject(new RenewableSource(source, context, renewed));
  return Transfer.open(remote, reading.range ?? null, reading.signal ?? new AbortController().signal);
}

async function read(list: readonly Answer[], reading: Reading = {}): Promise<string> {
  let text = '';
  for await (const chunk of (await open(list, reading)).chunks()) text += chunk.toString();
  return text;
}

const ranges = () => asked.map(({ range }) => range);
const from = (start: number, end: number | null = null) => ({ range: { start, end } });
const fault = (message: string | RegExp, code = 'upstream_error') => ({
  failure: { code, message: expect.stringMatching(message) as string },
});

describe('reads complete bytes', () => {
  it.each<[string, Answer[], Reading, string, (string | undefined)[]]>([
    ['from one response', [whole()], {}, '0123456789', [undefined]],
    ['from the requested part', [part(3, 5)], from(3, 5), '345', ['bytes=3-5']],
    ['from a part up to the end', [part(3, 9)], from(3), '3456789', ['bytes=3-']],
    ['from a range that extends past the end', [part(3, 9)], from(3, 50), '3456789', ['bytes=3-50']],
    ['from a whole response, skipping the rest', [whole()], from(3, 5), '345', ['bytes=3-5']],
    ['from a whole response, up to its end', [whole()], from(3), '3456789', ['bytes=3-']],
    [
      'from a server that rejects every range',
      [status(416, { 'content-range': 'bytes */10' }), whole()],
      from(3, 5),
      '345',
      ['bytes=3-5', undefined],
    ],
    [
      'from a server that rejects even the first range',
      [status(416), whole()],
      from(0),
      '0123456789',
      ['bytes=0-', undefined],
    ],
    ...[400, 403, 405, 501].map((code): [string, Answer[], Reading, string, (string | undefined)[]] => [
      `from a server that rejects ranges with ${code}`,
      [status(code), whole()],
      from(3),
      '3456789',
      ['bytes=3-', undefined],
    ]),
    [
      'from a server that rejects even the first range with 403',
      [status(403), whole()],
      from(0, 5),
      '012345',
      ['bytes=0-5', undefined],
    ],
    [
      'from a server that sends several parts as one',
      [several, whole()],
      from(3, 5),
      '345',
      ['bytes=3-5', undefined],
    ],
    [
      'from a server that sends another part',
      [part(4, 9), whole()],
      from(3),
      '3456789',
      ['bytes=3-', undefined],
    ],
    [
      'from a server that states the position in another form',
      [part(3, 5, 10, { 'content-range': 'bytes=3-5/10' }), whole()],
      from(3, 5),
      '345',
      ['bytes=3-5', undefined],
    ],
    ['from a part that extends past the range', [part(3, 9)], from(3, 5), '345', ['bytes=3-5']],
    ['from a response that a proxy changed', [changed], from(3), '3456789', ['bytes=3-']],
    [
      'from bytes with a label that is no encoding',
      [compressed('utf-8', object)],
      {},
      '0123456789',
      [undefined],
    ],
    [
      'from compressed bytes with such a label',
      [compressed('gzip, binary', gzipSync(object))],
      {},
      '0123456789',
      [undefined],
    ],
    [
      'from a server that compresses parts',
      [part(3, 5, 10, { 'content-encoding': 'gzip' }), whole()],
      from(3, 5),
      '345',
      ['bytes=3-5', undefined],
    ],
    ['from compressed bytes', [compressed('gzip', gzipSync(object))], {}, '0123456789', [undefined]],
    [
      'from compressed bytes, up to the end of a range',
      [compressed('br', brotliCompressSync(object))],
      from(3, 5),
      '345',
      ['bytes=3-5'],
    ],
    [
      'from compressed bytes, up to their end',
      [compressed('deflate', deflateSync(object))],
      from(3),
      '3456789',
      ['bytes=3-'],
    ],
    [
      'of unknown size, up to an end before that of the range',
      [part(0, 9, '*'), status(416)],
      from(0, 20),
      '0123456789',
      ['bytes=0-20', undefined, 'bytes=10-20'],
    ],
    ['from a response without a length that ends cleanly', [unmeasured], {}, '0123456789', [undefined]],
    [
      'as a part of what nobody told the size, when there is no further one',
      [part(0, 9, '*'), status(416)],
      from(0),
      '0123456789',
      ['bytes=0-', undefined, 'bytes=10-'],
    ],
    [
      'where the connection breaks behind the last byte that was wanted',
      [cut(3, 5, 3, 'breaks')],
      from(3, 5),
      '345',
      ['bytes=3-5'],
    ],
    ['for an empty range at the end', [status(416)], from(10), '', ['bytes=10-']],
  ])('%s', async (_what, list, reading, text, expected) => {
    expect(await read(list, reading)).toBe(text);
    expect(ranges()).toEqual(expected);
  });

  it.each(['ends', 'breaks'] as const)('by resuming after a response that %s early', async (how) => {
    expect(await read([cut(0, 9, 4, how), part(4, 9)], from(0))).toBe('0123456789');
    expect(ranges()).toEqual(['bytes=0-', 'bytes=4-9']);
  });

  it('with one request for a rejected chunk', async () => {
    await expect(read([status(403)], { chunkBytes: 4 })).rejects.toMatchObject(fault('rejects this service'));
    expect(ranges()).toEqual(['bytes=0-3']);
  });

  it('from a server that limits the size of parts', async () => {
    expect(await read([part(0, 3), part(4, 7), part(8, 9)], from(0))).toBe('0123456789');
    expect(ranges()).toEqual(['bytes=0-', 'bytes=4-9', 'bytes=8-9']);
  });

  it('in chunks that end with the object', async () => {
    expect(await read([part(0, 3), part(4, 7), part(8, 9)], { chunkBytes: 4 })).toBe('0123456789');
    expect(ranges()).toEqual(['bytes=0-3', 'bytes=4-7', 'bytes=8-9']);
  });

  it('in chunks that end with the range', async () => {
    expect(await read([part(1, 4), part(5, 6)], { ...from(1, 6), chunkBytes: 4 })).toBe('123456');
    expect(ranges()).toEqual(['bytes=1-4', 'bytes=5-6']);
  });

  it('in chunks of an object of unknown size, up to the first missing one', async () => {
    expect(await read([part(0, 4, '*'), part(5, 9, '*'), status(416)], { chunkBytes: 5 })).toBe('0123456789');
    expect(ranges()).toEqual(['bytes=0-4', 'bytes=5-9', 'bytes=10-14']);
  });

  it('from a new URL when the old one is rejected', async () => {
    let renewals = 0;
    const renew = () => Promise.resolve(++renewals === 1);
    expect(await read([status(403), whole()], { renew })).toBe('0123456789');
    expect(renewals).toBe(1);
  });
});

describe('surplus bytes', () => {
  /** Writes these pieces, each after the previous one was read, then hangs. */
  const held =
    (code: number, headers: Headers, pieces: readonly string[], onClose: () => void): Answer =>
    async (_request, response) => {
      response.once('close', onClose);
      response.writeHead(code, headers);
      for (const piece of pieces) {
        response.write(piece);
        await delay(20);
      }
    };
  const place = { 'content-range': 'bytes 3-5/10' };

  it.each<[string, number, Headers, string[]]>([
    ['in the same piece', 200, { 'content-length': '10' }, ['0123456']],
    ['after the requested ones', 200, { 'content-length': '10' }, ['012345']],
    ['before the requested ones, in pieces', 200, { 'content-length': '10' }, ['01', '2', '34', '56']],
    ['of an object of unknown size', 200, {}, ['0123', '456']],
    ['in a part that is longer than stated', 206, place, ['345678']],
  ])('are not awaited: %s', async (_what, code, headers, pieces) => {
    let onClose: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (onClose = resolve));
    expect(await read([held(code, headers, pieces, onClose)], from(3, 5))).toBe('345');
    await closed;
    expect(asked).toHaveLength(1);
  });
});

it('tolerates a pause within the limit', async () => {
  const paused: Answer = async (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('0123');
    // Longer than the interval of the idle check.
    await delay(1_200);
    response.end('456789');
  };
  expect(await read([paused], { limits: { idleTimeoutMs: 20_000 } })).toBe('0123456789');
  expect(asked).toHaveLength(1);
});

describe('tolerates a process that is busy for longer than the limit', () => {
  /** Sends bytes and, before this process can read them, keeps it busy until every timer is due. */
  const sendThenBlock = ({ socket }: ServerResponse, bytes: string) =>
    setImmediate(() => {
      socket?.write(bytes);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    });

  it('before the first byte', async () => {
    const late: Answer = (_request, response) =>
      void sendThenBlock(response, 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n0123456789');
    expect(await read([late], { limits: { firstByteTimeoutMs: 400 } })).toBe('0123456789');
    expect(asked).toHaveLength(1);
  });

  it('in the middle', async () => {
    let sendRest: () => void = () => undefined;
    const halves: Answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('0123');
      sendRest = () => void sendThenBlock(response, '456789');
    };
    const transfer = await open([halves], { limits: { idleTimeoutMs: 400 } });
    let text = '';
    for await (const chunk of transfer.chunks()) {
      text += chunk.toString();
      if (text === '0123') sendRest();
    }
    expect([text, asked.length]).toEqual(['0123456789', 1]);
  });
});

describe('a transfer fails', () => {
  it.each<[string, Answer[], Reading, ReturnType<typeof fault>]>([
    ['a part without a position', [status(206)], from(3), fault('without its position')],
    ['a different part', [part(4, 9)], from(3), fault('different part')],
    [
      'of the length that they say',
      [part(3, 9, 10, { 'content-length': '5', connection: 'close' })],
      from(3),
      fault('contradicted itself'),
    ],
    ['an unknown compression', [compressed('zstd', object)], {}, fault('compressed the file \\(zstd\\)')],
    ['a 416 from the start', [status(416)], {}, fault('HTTP 416')],
    [
      'refused rightly',
      [status(416, { 'content-range': 'bytes */10' })],
      from(9),
      fault('rejected a range that exists'),
    ],
    ['a missing file', [status(404)], {}, fault('HTTP 404', 'video_not_found')],
    ['too many bytes', [whole()], { limits: { maxBytes: 9 } }, fault('larger than', 'too_long')],
    ['a rejected URL that cannot be renewed', [status(403)], {}, fault('rejects this service')],
  ])('before the first byte: %s', async (_what, list, reading, expected) => {
    await expect(open(list, reading)).rejects.toMatchObject(expected);
  });

  it.each<[string, Answer[], ReturnType<typeof fault>]>([
    ['a changed size', [cut(0, 9, 4, 'breaks'), part(4, 8, 9)], fault('changed the size')],
    ['a part past the end', [cut(0, 9, 4, 'breaks'), part(4, 10, '*')], fault('changed the size')],
    [
      'of one size, by a refusal',
      [cut(0, 9, 4, 'breaks'), status(416, { 'content-range': 'bytes */4' })],
      fault('changed the size'),
    ],
    ['a 416 for the rest', [cut(0, 9, 4, 'breaks'), status(416)], fault('rejected a range that exists')],
    [
      'up to an end that nobody told',
      [cut(0, 9, 4, 'breaks', '*'), status(416)],
      fault('lost the end of the file'),
    ],
    [
      'there a second time',
      [cut(0, 9, 4, 'ends'), cut(4, 9, 0, 'ends')],
      fault('stopped before the end of the file'),
    ],
    ['repeated breaks', [cut(0, 9, 4, 'breaks'), cut(4, 9, 0, 'breaks')], fault('broke and')],
  ])('after the correct bytes: %s', async (_what, list, expected) => {
    const transfer = await open(list, from(0));
    let text = '';
    const reading = (async () => {
      for await (const chunk of transfer.chunks()) text += chunk.toString();
    })();
    await expect(reading).rejects.toMatchObject(expected);
    expect(text).toBe('0123');
  });

  it('when the server stops sending on every attempt', async () => {
    const stalling: Answer = (_request, response) =>
      void response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).write('0123');
    const further: Answer = (_request, response) => {
      response.writeHead(206, { 'content-range': 'bytes 4-9/10' }).flushHeaders();
    };
    const limits = { idleTimeoutMs: 500 };
    await expect(read([stalling, further], { ...from(0), limits })).rejects.toMatchObject(
      fault('stopped sending', 'upstream_timeout'),
    );
    expect(ranges()).toEqual(['bytes=0-', 'bytes=4-9']);
  });

  it('but not when the reader pauses', async () => {
    const halves: Answer = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('0123', () => setImmediate(() => response.end('456789')));
    };
    const transfer = await open([halves], { limits: { idleTimeoutMs: 500 } });
    let text = '';
    for await (const chunk of transfer.chunks()) {
      text += chunk.toString();
      await delay(800);
    }
    expect([text, asked.length]).toEqual(['0123456789', 1]);
  });

  it("with the renewal's own error", async () => {
    const gone = new DomainError('private_video', 'It is private now.');
    await expect(open([status(403)], { renew: () => Promise.reject(gone) })).rejects.toMatchObject({
      failure: gone,
      remedy: 'none',
    });
    const mistake = new TypeError('x is not a function');
    await expect(open([status(403)], { renew: () => Promise.reject(mistake) })).rejects.toBe(mistake);
  });

  it("with the job's reason when the job ends during a renewal", async () => {
    const job = new AbortController();
    const reason = new Error('client gone');
    const renew = () => {
      job.abort(reason);
      return Promise.reject(new DomainError('private_video', 'It is private now.'));
    };
    await expect(open([status(403)], { renew, signal: job.signal })).rejects.toBe(reason);
  });

  it("with the job's reason when the job ends", async () => {
    const job = new AbortController();
    const reason = new Error('client gone');
    const transfer = await open(
      [(_request, response) => void response.writeHead(200, { 'content-length': 10 }).write('0123')],
      { signal: job.signal },
    );
    const reading = (async () => {
      for await (const chunk of transfer.chunks()) if (chunk.length > 0) job.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    await expect(open([whole()], { signal: job.signal })).rejects.toBe(reason);
  });
});

describe('two responses belong to one version', () => {
  const resumed = (first: Headers, second: Headers) =>
    read(
      [
        (_request, response) => {
          response.writeHead(206, { 'content-range': 'bytes 0-9/10', ...first });
          response.write('0123', () => response.destroy());
        },
        part(4, 9, 10, second),
      ],
      from(0),
    );

  const timeAt = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000).toUTCString();
  /** Of a script that states when it runs, here a second before its server sends the response. */
  const sentAt = (seconds: number) => ({ date: timeAt(seconds), 'last-modified': timeAt(seconds - 1) });

  it.each<[string, Headers, Headers]>([
    ['state only their size', {}, {}],
    ['have the same validator', { etag: '"a"' }, { etag: '"a"' }],
    ['have a validator weakened by compression', { etag: '"a"' }, { etag: 'W/"a"' }],
    [
      'have the same strong validator',
      { etag: '"a"', 'last-modified': 'x' },
      { etag: '"a"', 'last-modified': 'y' },
    ],
    ['state their size and the time of each response', sentAt(0), sentAt(60)],
    ['have a validator that one omits', { etag: '"a"', 'last-modified': 'x' }, {}],
    ['have the same date', { 'last-modified': 'x' }, { 'last-modified': 'x', etag: '"a"' }],
    [
      'have the same date and size, but validators of different servers',
      { 'last-modified': 'x', etag: '"a"' },
      { 'last-modified': 'x', etag: '"b"' },
    ],
  ])('if they %s', async (_what, first, second) => {
    expect(await resumed(first, second)).toBe('0123456789');
  });

  it.each<[string, Headers, Headers]>([
    ['validator', { etag: '"a"' }, { etag: '"b"' }],
    ['weak validator', { etag: 'W/"a"' }, { etag: 'W/"b"' }],
    ['validator and no date', { etag: '"a"', 'last-modified': 'x' }, { etag: '"b"' }],
    ['date', { 'last-modified': 'x' }, { 'last-modified': 'y' }],
    [
      'date and a weak validator',
      { etag: 'W/"a"', 'last-modified': 'x' },
      { etag: 'W/"a"', 'last-modified': 'y' },
    ],
    ['date, the second of which is new', { ...sentAt(0), 'last-modified': timeAt(-60) }, sentAt(60)],
    ['date, the first of which was new', sentAt(0), { ...sentAt(60), 'last-modified': timeAt(30) }],
    ['validator in the same second', { ...sentAt(0), etag: '"a"' }, { ...sentAt(0), etag: '"b"' }],
  ])('but not with a different %s', async (_what, first, second) => {
    await expect(resumed(first, second)).rejects.toMatchObject(fault('changed the version'));
  });

  it.each<[string, Headers, string | undefined]>([
    ['a strong validator', { etag: '"a"' }, '"a"'],
    ['a weak one', { etag: 'W/"a"' }, undefined],
    ['none', {}, undefined],
  ])('checked by If-Range with %s', async (_what, headers, expected) => {
    await resumed(headers, {});
    expect(asked.map((header) => header['if-range'])).toEqual([undefined, expected]);
  });

  it('without If-Range if validators of one version differ', async () => {
    const dated = (etag: string) => ({ 'last-modified': 'x', etag });
    const list = [part(0, 3, 10, dated('"a"')), part(4, 7, 10, dated('"b"')), part(8, 9, 10, dated('"c"'))];
    expect(await read(list, from(0))).toBe('0123456789');
    expect(asked.map((header) => header['if-range'])).toEqual([undefined, '"a"', undefined]);
  });

  it('but not if a server without ranges sends no validators', async () => {
    const nameless: Answer = (_request, response) => {
      response.writeHead(200);
      response.write('0123', () => response.destroy());
    };
    await expect(read([nameless])).rejects.toMatchObject(fault("can't identify the file"));
    const clock: Answer = (_request, response) => {
      response.writeHead(200, sentAt(0));
      response.write('0123', () => response.destroy());
    };
    await expect(read([clock])).rejects.toMatchObject(fault("can't identify the file"));
    const named: Answer = (_request, response) => {
      response.writeHead(200, { etag: '"a"' });
      response.write('0123', () => response.destroy());
    };
    const again: Answer = (_request, response) => void response.writeHead(200, { etag: '"a"' }).end(object);
    expect(await read([named, again])).toBe('0123456789');
  });
});

describe('a transfer', () => {
  it('reports the size, type and URL of its object', async () => {
    const transfer = await open([
      status(302, { location: '/moved' }),
      whole({ 'content-type': 'video/mp4' }),
    ]);
    expect(transfer).toMatchObject({
      isPastEnd: false,
      total: 10,
      contentType: 'video/mp4',
      url: `${origin}/moved`,
    });
    transfer.discard();
  });

  it('learns the size from the whole file if parts state none', async () => {
    const transfer = await open(unsized({ etag: '"a"' }), from(0));
    expect([transfer.total, transfer.isPart]).toEqual([10, true]);
    expect(ranges()).toEqual(['bytes=0-', undefined]);
    transfer.discard();
  });

  it.each<[string, Headers]>([
    ['another version', { etag: '"b"' }],
    ['another type', { 'content-type': 'text/html' }],
    ['a length that the part exceeds', { 'content-length': '9' }],
    ['a length in compressed bytes', { 'content-encoding': 'gzip' }],
  ])('learns no size from %s', async (_what, headers) => {
    const transfer = await open(unsized(headers), from(0));
    expect(transfer.total).toBeNull();
    transfer.discard();
  });

  it('reports a range past the end', async () => {
    const behind = { isPastEnd: true, contentType: undefined, url: undefined };
    expect(await open([status(416, { 'content-range': 'bytes */10' })], from(10))).toMatchObject(behind);
    const shorter = await open([whole()], from(10));
    expect(shorter).toMatchObject({ ...behind, total: 10 });
    shorter.discard();
  });

  it('closes the connection when discarded', async () => {
    const stopped = new Promise((resolve) => {
      const endless: Answer = (_request, response) => {
        response.once('close', resolve);
        response.writeHead(200, { 'content-length': 10 }).write('0');
      };
      void open([endless]).then((transfer) => transfer.discard());
    });
    await stopped;
  });
});
