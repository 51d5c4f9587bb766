import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { paced, type SiteHandler, type SiteOptions } from './server.js';

/**
 * Faults of a media URL, selected by its query:
 *
 * | parameter | fault |
 * |---|---|
 * | `cut=N` | the connection breaks before byte N |
 * | `cutEvery=N` | every response breaks after N bytes |
 * | `stall=N` | stalls at byte N with the connection open |
 * | `slow=N` | N bytes per second |
 * | `status=N` | HTTP status N instead of the file |
 * | `rangeStatus=N` | HTTP status N for any range but from the first byte |
 * | `multipart` | each range as one of several parts |
 * | `compressed` | the whole file for any range, compressed with gzip |
 * | `expire=N` | 403 once N bytes have been sent from this URL |
 * | `ignoreRange` | the whole file for any range |
 * | `unsizedParts` | a `Content-Range` without the size of the file |
 * | `wrongRange` | a `Content-Range` other than requested, from the second part on |
 * | `etag=change`, `modified=change`, `size=change` | another version of the file in every response |
 * | `length=N` | a `Content-Length` that is N bytes too large, or too small when negative |
 * | `chunked` | no `Content-Length` |
 * | `bare` | no `Content-Length`, no validators and no ranges |
 * | `endless` | an endless body |
 * | `garbage` | noise of the right length |
 * | `noise=N` | 40 kB of noise from byte N on |
 * | `damage=N` | 300 bytes of ones from byte N on |
 * | `overwrite=KEY:VALUE` | VALUE instead of the bytes after the first KEY, both in hexadecimal |
 * | `short=N` | the file is N bytes shorter |
 * | `page` | a web page instead of the file |
 * | `empty` | an empty file |
 * | `half` | the first half as the whole file; cut between packets of a transport stream |
 * | `redirect=URL` | a redirect |
 * | `segment=I&segmentFault=QUERY` | on a playlist, or each track of a manifest: gives its I-th URL a separate query |
 * | `slowBefore=N` | with `segment`: sends the previous segment with N bytes per second, so that the fault comes late |
 * | `discontinuous` | with `segment`: a discontinuity before each |
 * | `extinf=N` | with `segment`: states a duration of N seconds for each |
 * | `begun` | with `cut`, `cutEvery` or `stall`: only once the client has its first byte (`begin`); a few bytes follow until then |
 * | `times=N` | only the first N times (`cut`, `stall`, `status`, `wrongRange`, `redirect`) |
 */
export class Faults {
  readonly #uses = new Map<string, number>();
  readonly #sent = new Map<string, number>();
  readonly #answers = new Map<string, number>();
  readonly #byPath = new Map<string, string>();
  readonly #begun = new Set<string>();
  #tokens = 0;

  /** Makes a URL faulty that can't have a query, such as a DASH segment. */
  set(path: string, query: string): void {
    this.#byPath.set(path, query);
  }

  /** The client has the first byte of what is made from the media with this `n` in their query. */
  begin(number: string): void {
    this.#begun.add(number);
  }

  /** A page whose media URL changes on each request: `expire=` ends with a new extraction. */
  readonly expiringPage: SiteHandler = (_req, res, url) => {
    const name = url.searchParams.get('media') ?? 'front.mp4';
    const query = new URLSearchParams({
      expire: url.searchParams.get('expire') ?? '0',
      token: String(++this.#tokens),
    });
    const src = `/media/${name}?${query.toString()}`.replaceAll('&', '&amp;');
    res.setHeader('content-type', 'text/html').end(`<title>Expiring</title><video src="${src}"></video>`);
  };

  /** For `startSite({ intercept })`. */
  readonly intercept: NonNullable<SiteOptions['intercept']> = async (req, res, { url, path, type }) => {
    const query = new URLSearchParams(this.#byPath.get(url.pathname) ?? url.search);
    if (query.has('segmentFault')) return sendPlaylist(res, path, type, query);
    if (![...query.keys()].some((name) => faultNames.has(name))) return false;
    const size = (await stat(path)).size - Number(query.get('short') ?? 0);
    await this.#answer({ req, res, path, type, size, query, key: url.href });
    return true;
  };

  async #answer(request: FaultyRequest): Promise<void> {
    const { req, res, query, key, type } = request;
    if (query.has('status') && this.#strikes(request)) {
      res.writeHead(Number(query.get('status'))).end('no');
      return;
    }
    if (query.has('rangeStatus') && !/^bytes=0-/.test(req.headers.range ?? 'bytes=0-')) {
      res.writeHead(Number(query.get('rangeStatus'))).end('no');
      return;
    }
    if (query.has('redirect') && this.#strikes(request)) {
      res.writeHead(302, { location: query.get('redirect') ?? '' }).end();
      return;
    }
    if (query.has('expire') && this.#sentFrom(key) >= Number(query.get('expire'))) {
      res.writeHead(403).end('expired');
      return;
    }
    if (otherBodies.some((name) => query.has(name))) return sendOther(request);
    if (query.has('multipart') && req.headers.range !== undefined) {
      res.writeHead(206, { 'content-type': 'multipart/byteranges; boundary=x' }).end('--x--\r\n');
      return;
    }
    if (query.has('endless')) return sendEndless(res, type);
    const { start, end } = this.#writeHead(request);
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    const stop = this.#stop(request, start);
    if (query.has('begun') && stop.byte <= end) await this.#sendUntilBegun(request, start, stop.byte);
    else await this.#sendBytes(request, start, Math.min(end, stop.byte - 1));
    const isStruck =
      stop.byte <= end && (stop.how === 'cutEvery' || stop.how === 'expire' || this.#strikes(request));
    if (!isStruck) res.end();
    else if (stop.how !== 'stall') res.socket?.destroySoon();
  }

  #writeHead(request: FaultyRequest): { start: number; end: number } {
    const { req, res, type, size, query, key } = request;
    const isBare = query.has('bare');
    const range =
      isBare || query.has('ignoreRange') ? null : /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '');
    const start = Number(range?.[1] ?? 0);
    const end = Math.min(range?.[2] ? Number(range[2]) : Infinity, size - 1);
    const answers = this.#answers.get(key) ?? 0;
    this.#answers.set(key, answers + 1);
    const version = (name: string) => (query.get(name) === 'change' ? answers : 0);
    const total = query.has('unsizedParts') ? '*' : size + version('size');
    const shift = query.has('wrongRange') && start > 0 && this.#strikes(request) ? 1 : 0;
    res.writeHead(range ? 206 : 200, {
      'content-type': type,
      ...(!isBare && {
        etag: `"${size}-${version('etag')}"`,
        'last-modified': new Date(1_700_000_000_000 + version('modified') * 1000).toUTCString(),
      }),
      ...(!isBare && !query.has('ignoreRange') && { 'accept-ranges': 'bytes' }),
      ...(!isBare &&
        !query.has('chunked') && { 'content-length': end - start + 1 + Number(query.get('length') ?? 0) }),
      ...(range && { 'content-range': `bytes ${start - shift}-${end - shift}/${total}` }),
    });
    return { start, end };
  }

  /** The first byte that is not sent, and how the response stops there. */
  #stop({ query, key }: FaultyRequest, start: number): { byte: number; how: string } {
    const at = (name: string, offset: number) => ({ how: name, byte: offset + Number(query.get(name)) });
    if (query.has('expire')) return at('expire', start - this.#sentFrom(key));
    if (query.has('cutEvery')) return at('cutEvery', start);
    const name = ['cut', 'stall'].find(
      (candidate) => query.has(candidate) && start <= Number(query.get(candidate)),
    );
    if (name === undefined || !this.#isDue({ query, key })) return { how: 'end', byte: Infinity };
    return at(name, 0);
  }

  /** Sends everything before a byte. The last part is sent slowly until the client has its first byte. */
  async #sendUntilBegun(request: FaultyRequest, start: number, end: number): Promise<void> {
    const waitsAt = Math.max(start, end - maxWaitBytes);
    await this.#sendBytes(request, start, waitsAt - 1);
    for (let at = waitsAt; at < end && !request.res.destroyed; at += 1) {
      if (this.#begun.has(request.query.get('n') ?? '')) return;
      await this.#sendBytes(request, at, at);
      await delay(waitStepMs);
    }
  }

  async #sendBytes({ res, path, query, key }: FaultyRequest, start: number, end: number): Promise<void> {
    if (end < start) return;
    const slow = Number(query.get('slow') ?? Infinity);
    const noiseAt = Number(query.get('noise') ?? Infinity);
    const damageAt = Number(query.get('damage') ?? Infinity);
    const patch = await patchOf(path, query.get('overwrite'));
    let at = start;
    const count = (bytes: number) => this.#sent.set(key, this.#sentFrom(key) + bytes);
    await pipeline(
      createReadStream(path, { start, end }),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const piece of paced(chunks, slow)) {
          count(piece.length);
          yield query.has('garbage')
            ? Buffer.alloc(piece.length, 'not media ')
            : patched(withOnes(withNoise(piece, noiseAt - at), damageAt - at), at, patch);
          at += piece.length;
        }
      },
      res,
      { end: false },
    );
  }

  #isDue({ key, query }: Pick<FaultyRequest, 'key' | 'query'>): boolean {
    return (this.#uses.get(key) ?? 0) < Number(query.get('times') ?? Infinity);
  }

  /** Counts a use of the fault. Returns whether it still happens. */
  #strikes(request: FaultyRequest): boolean {
    const isDue = this.#isDue(request);
    if (isDue) this.#uses.set(request.key, (this.#uses.get(request.key) ?? 0) + 1);
    return isDue;
  }

  #sentFrom(key: string): number {
    return this.#sent.get(key) ?? 0;
  }
}

/** With `begun`, a byte every 100 ms for at most 20 s, which is fast enough to prevent timeouts. */
const maxWaitBytes = 200;
const waitStepMs = 100;

interface FaultyRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly query: URLSearchParams;
  readonly key: string;
}

const faultNames = new Set([
  ...[
    'cut',
    'cutEvery',
    'stall',
    'slow',
    'status',
    'expire',
    'ignoreRange',
    'wrongRange',
    'etag',
    'modified',
    'unsizedParts',
  ],
  ...[
    'noise',
    'overwrite',
    'size',
    'length',
    'chunked',
    'bare',
    'damage',
    'short',
    'endless',
    'garbage',
    'redirect',
    'page',
    'empty',
    'half',
    'halfFragments',
    'rangeStatus',
    'multipart',
    'compressed',
  ],
]);

const compressedFiles = new Map<string, Promise<Buffer>>();

/** What `compressed` sends. Compressed once: a client with a short timeout doesn't wait for more. */
export async function compressedFile(path: string): Promise<Buffer> {
  const file = compressedFiles.get(path) ?? readFile(path).then(promisify(gzip));
  compressedFiles.set(path, file);
  return file;
}

/** Bodies that are not the file. */
const otherBodies = ['page', 'empty', 'half', 'halfFragments', 'compressed'];

async function sendOther({ res, path, type, query }: FaultyRequest): Promise<void> {
  if (query.has('page')) {
    const body = `<!DOCTYPE html><title>Gone</title>${'<p>This is not here any more.</p>'.repeat(200)}`;
    res.writeHead(200, { 'content-type': 'text/html', 'content-length': body.length }).end(body);
    return;
  }
  if (query.has('compressed')) {
    const body = await compressedFile(path);
    const headers = { 'content-type': type, 'content-encoding': 'gzip', 'content-length': body.length };
    res.writeHead(200, headers).end(body);
    return;
  }
  const whole = await readFile(path);
  if (query.has('halfFragments')) {
    const fragments = halfOfFragments(whole);
    res.writeHead(200, { 'content-type': type, 'content-length': fragments.length }).end(fragments);
    return;
  }
  const length = query.has('empty') ? 0 : Math.floor(whole.length / 2 / 188) * 188;
  res.writeHead(200, { 'content-type': type, 'content-length': length }).end(whole.subarray(0, length));
}

/** The first half of the fragments of a segment: every box whole, some of them missing. */
function halfOfFragments(segment: Buffer): Buffer {
  const starts: number[] = [];
  for (let at = 0; at + 8 <= segment.length; at += Math.max(8, segment.readUInt32BE(at)))
    if (segment.toString('latin1', at + 4, at + 8) === 'moof') starts.push(at);
  return segment.subarray(0, starts[Math.floor(starts.length / 2)]);
}

async function sendPlaylist(
  res: ServerResponse,
  path: string,
  type: string,
  query: URLSearchParams,
): Promise<true> {
  const wanted = Number(query.get('segment') ?? 0);
  let index = -1;
  const text = await readFile(path, 'utf8');
  if (path.endsWith('.mpd')) return sendText(res, type, manifestWithFault(text, query));
  const lines = text.split('\n').map((line) => {
    const isAddress = line !== '' && !line.startsWith('#');
    if (line.startsWith('#EXTINF')) return extinf(line, query);
    if (isAddress) index += 1;
    if (isAddress && index === wanted - 1 && query.has('slowBefore'))
      return `${line}?slow=${query.get('slowBefore') ?? ''}&n=${query.get('n') ?? ''}`;
    return isAddress && index === wanted ? `${line}?${query.get('segmentFault') ?? ''}` : line;
  });
  return sendText(res, type, lines.join('\n'));
}

function sendText(res: ServerResponse, type: string, body: string): true {
  res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
  return true;
}

/** Segments are numbered from 1 in the names that ffmpeg gives them, `chunk-stream0-00009.m4s`. */
function manifestWithFault(text: string, query: URLSearchParams): string {
  const wanted = Number(query.get('segment') ?? 0) + 1;
  return text.replaceAll(/media="(chunk-stream(\d)-(\d+)\.m4s)"/gu, (whole, name: string, track, number) => {
    // Audio has fewer bytes, which must take as long.
    const slow = Number(query.get('slowBefore') ?? 0) / (track === '1' ? 8 : 1);
    const late = slow > 0 && Number(number) === wanted - 1 && `slow=${slow}&n=${query.get('n') ?? ''}`;
    const own = Number(number) === wanted ? (query.get('segmentFault') ?? '') : late;
    return own ? `media="${`${name}?${own}`.replaceAll('&', '&amp;')}"` : whole;
  });
}

function extinf(line: string, query: URLSearchParams): string {
  const seconds = query.get('extinf');
  const stated = seconds === null ? line : `#EXTINF:${seconds},`;
  return query.has('discontinuous') ? `#EXT-X-DISCONTINUITY\n${stated}` : stated;
}

async function sendEndless(res: ServerResponse, type: string): Promise<void> {
  res.writeHead(200, { 'content-type': type });
  const chunk = Buffer.alloc(64 * 1024, 'x');
  await pipeline(function* () {
    for (;;) yield chunk;
  }, res);
}

const noiseBytes = 40_000;

/** A piece of a file with its part of the noise. @param from start of the noise, relative to the piece */
function withNoise(piece: Buffer, from: number): Buffer {
  const first = Math.max(0, from);
  const end = Math.min(piece.length, from + noiseBytes);
  if (end <= first) return piece;
  return Buffer.concat([piece.subarray(0, first), randomBytes(end - first), piece.subarray(end)]);
}

interface Patch {
  readonly at: number;
  readonly bytes: Buffer;
}

async function patchOf(path: string, overwrite: string | null): Promise<Patch | null> {
  if (overwrite === null) return null;
  const [key, bytes] = overwrite.split(':').map((part) => Buffer.from(part, 'hex'));
  const found = key === undefined ? -1 : (await readFile(path)).indexOf(key);
  if (found < 0 || key === undefined || bytes === undefined)
    throw new Error(`nothing to overwrite: ${overwrite}`);
  return { at: found + key.length, bytes };
}

function patched(piece: Buffer, offset: number, patch: Patch | null): Buffer {
  if (patch === null || patch.at >= offset + piece.length || patch.at + patch.bytes.length <= offset)
    return piece;
  const copy = Buffer.from(piece);
  for (const [index, byte] of patch.bytes.entries()) {
    const at = patch.at + index - offset;
    if (at >= 0 && at < copy.length) copy[at] = byte;
  }
  return copy;
}

function withOnes(piece: Buffer, from: number): Buffer {
  const end = Math.min(piece.length, from + 300);
  return end <= Math.max(0, from) ? piece : Buffer.from(piece).fill(0xff, Math.max(0, from), end);
}
