import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { media } from './media.js';
import { documents, pages } from './pages.js';
import { recipes } from './recipes.js';

/** A sample video site on loopback. */
export interface Site extends AsyncDisposable {
  /** Origin without a slash at its end. */
  readonly url: string;
  /** `host:port`, as ALLOWED_PRIVATE_SOURCES wants it. */
  readonly host: string;
  /** Received requests, in order. */
  readonly requests: readonly SiteRequest[];
  /** Sets a test's own handler for a path; takes precedence. */
  on(path: string, handler: SiteHandler): void;
  close(): Promise<void>;
}

export interface SiteRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

export type SiteHandler = (req: IncomingMessage, res: ServerResponse, url: URL) => void | Promise<void>;

export interface SiteOptions {
  readonly host?: string;
  readonly port?: number;
  /** In PEM. With them, the site speaks https. */
  readonly tls?: Readonly<Record<'key' | 'cert', string>> | undefined;
  /** What the site has, in place of the fault site's pages and media. */
  readonly content?: SiteHandler;
  /** Runs first; returns true if it has responded (used for faults). */
  readonly intercept?: (
    req: IncomingMessage,
    res: ServerResponse,
    resource: { readonly url: URL; readonly path: string; readonly type: string },
  ) => Promise<boolean> | boolean;
}

const types: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.m4s': 'video/iso.segment',
  '.m4a': 'audio/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
  '.mkv': 'video/x-matroska',
  '.mp3': 'audio/mpeg',
  '.aac': 'audio/aac',
  '.flac': 'audio/flac',
  '.ogg': 'audio/ogg',
  '.ts': 'video/mp2t',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.mpd': 'application/dash+xml',
  '.key': 'application/octet-stream',
  '.jpg': 'image/jpeg',
};

/** Starts the site on a free loopback port. */
export async function startSite(options: SiteOptions = {}): Promise<Site> {
  const requests: SiteRequest[] = [];
  const handlers = new Map<string, SiteHandler>();
  const scheme = options.tls === undefined ? 'http' : 'https';
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? '/', `${scheme}://${req.headers.host ?? 'localhost'}`);
    requests.push({
      method: req.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: req.headers,
    });
    answer(req, res, url, handlers, options).catch((error: unknown) => {
      // The client may be gone, or a test cut the connection on purpose.
      res.destroy(error instanceof Error ? error : undefined);
    });
  };
  const server =
    options.tls === undefined ? createServer(onRequest) : createTlsServer(options.tls, onRequest);
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { address, port } = server.address() as AddressInfo;
  const host = `${address}:${port}`;
  const close = async () => closeServer(server);
  return {
    url: `${scheme}://${host}`,
    host,
    requests,
    on: (path, handler) => void handlers.set(path, handler),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeServer(server: Server | TlsServer): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  url: URL,
  handlers: ReadonlyMap<string, SiteHandler>,
  options: SiteOptions,
): Promise<void> {
  const handler = handlers.get(url.pathname);
  await (handler ?? options.content ?? faultContent(options))(req, res, url);
}

/** The fault site's own pages and media. */
const faultContent =
  ({ intercept }: SiteOptions): SiteHandler =>
  async (req, res, url) => {
    const page = pages[url.pathname]?.({ origin: url.origin, query: url.searchParams });
    if (page !== undefined) {
      send(res, 'text/html; charset=utf-8', page);
      return;
    }
    const document = documents[url.pathname];
    if (document !== undefined) {
      send(res, document.type, document.body);
      return;
    }
    const path = await mediaPath(url.pathname);
    if (path === undefined) {
      res.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
      return;
    }
    const type = mediaTypeOf(path) ?? 'application/octet-stream';
    if ((await intercept?.(req, res, { url, path, type })) === true) return;
    await sendFile(req, res, path, type);
  };

/** The media type of a file by its name. */
export function mediaTypeOf(path: string): string | undefined {
  return types[extname(path)];
}

export function send(res: ServerResponse, type: string, body: string): void {
  res.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** The file behind `/media/<recipe>` or `/media/<recipe>/<file>`. */
async function mediaPath(pathname: string): Promise<string | undefined> {
  const [, root, name = '', ...rest] = decodeURIComponent(normalize(pathname)).split('/');
  if (root !== 'media' || recipes[name] === undefined) return undefined;
  return join(await media(name), ...rest);
}

/**
 * Sends a file like a good media server: with length, ranges and a validator.
 * @param options.bytesPerSecond is unlimited by default
 * @param options.share of the file after which the connection breaks, 0 to 1
 * @param options.onSent gets the size of each piece before we send it
 */
export async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  path: string,
  type: string,
  options: {
    readonly bytesPerSecond?: number;
    readonly share?: number;
    readonly onSent?: (bytes: number) => void;
  } = {},
): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) {
    res.writeHead(404).end();
    return;
  }
  const etag = `"${info.size}-${info.mtimeMs}"`;
  // A range of another version of the file gets the whole (RFC 9110 §13.1.5).
  const isOfOther = req.headers['if-range'] !== undefined && req.headers['if-range'] !== etag;
  const range = isOfOther ? null : /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '');
  const start = Number(range?.[1] ?? 0);
  const end = Math.min(range?.[2] ? Number(range[2]) : Infinity, info.size - 1);
  if (start > end) {
    res.writeHead(416, { 'content-range': `bytes */${info.size}` }).end();
    return;
  }
  res.writeHead(range ? 206 : 200, {
    'content-type': type,
    'accept-ranges': 'bytes',
    etag,
    'content-length': end - start + 1,
    ...(range && { 'content-range': `bytes ${start}-${end}/${info.size}` }),
  });
  if (req.method === 'HEAD') {
    res.end();
    return;
  }
  res.flushHeaders();
  const { bytesPerSecond = Infinity, share = 1, onSent } = options;
  let at = start;
  await pipeline(
    createReadStream(path, { start, end, highWaterMark: 256 * 1024 }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const piece of paced(chunks, bytesPerSecond)) {
        at += piece.length;
        if (at > share * info.size) throw new Error('The connection breaks here.');
        onSent?.(piece.length);
        yield piece;
      }
    },
    res,
  );
}

/** Passes bytes on at a steady rate, in pieces of at most a twentieth of a second. */
export async function* paced(
  chunks: AsyncIterable<Buffer>,
  bytesPerSecond: number,
): AsyncGenerator<Buffer, void> {
  const size = Math.max(1, Math.ceil(bytesPerSecond / 20));
  const startedAt = performance.now();
  let sent = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += size) {
      const piece = chunk.subarray(at, at + size);
      sent += piece.length;
      const dueMs = (sent / bytesPerSecond) * 1000 - (performance.now() - startedAt);
      if (dueMs > 1) await delay(dueMs);
      yield piece;
    }
  }
}
