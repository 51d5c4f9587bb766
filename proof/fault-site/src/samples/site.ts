import { EventEmitter, once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { film, masterPlaylist } from './film.js';

const types: Readonly<Record<string, string>> = {
  '.mp4': 'video/mp4',
  '.m4a': 'audio/mp4',
  '.mov': 'video/quicktime',
  '.m3u8': 'application/vnd.apple.mpegurl',
  '.ts': 'video/mp2t',
  '.jpg': 'image/jpeg',
};

const poster =
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"><rect width="640" height="360" fill="#24405c"/><circle cx="320" cy="180" r="90" fill="#f3c14b"/></svg>';

/** A small web site with one page per way of offering the video. */
export interface SampleSite extends AsyncDisposable {
  /** `address:port`, as ALLOWED_PRIVATE_SOURCES takes it. */
  readonly host: string;
  /** The URL of a path on it. */
  url: (path: string) => string;
  /** Bytes of media sent so far. */
  sentBytes: () => number;
  /** Resolves at the next request for a path. */
  asked: (path: string) => Promise<void>;
  /** Resolves when a client next aborts a media download. */
  readerGone: () => Promise<void>;
}

/**
 * Serves what `makeSampleFilm` has put into a folder:
 *
 *     /film           a page with the film in every size
 *     /film-hls       a page with its HLS playlist
 *     /watch?media=   a page with one file of the folder
 *     /with-picture   a page with a film and a poster
 *     /only-words     a page without any video
 *     /hangs          never responds
 *     /redirect?to=   redirects to a URL
 *     /seen           JSON: the requested files with their ranges
 *
 * A query of `/film` and `/watch` is handed on to the files, which read it:
 * `rate=` is bytes a second, `free=` how many bytes come at full speed before that,
 * and `cut=` the share of the file (0 to 1) after which the connection breaks.
 */
export async function startSampleSite(
  folder: string,
  { port = 0, address = '127.0.0.1' }: { port?: number; address?: string } = {},
): Promise<SampleSite> {
  const events = new EventEmitter();
  let sentBytes = 0;
  const requests: { readonly path: string; readonly range: string | null }[] = [];
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://site');
    const path = normalize(url.pathname);
    events.emit(`asked ${path}`);
    if (path === '/hangs') return;
    const page = pageAt(path, url.searchParams);
    if (page !== undefined) send(res, 'text/html; charset=utf-8', page);
    else if (path === '/redirect') {
      res.writeHead(302, { Location: url.searchParams.get('to') ?? '/' }).end();
    } else if (path === '/seen') send(res, 'application/json', JSON.stringify({ requests }));
    else if (path === '/poster.svg') send(res, 'image/svg+xml', poster);
    else if (path === '/master.m3u8') send(res, 'application/vnd.apple.mpegurl', masterPlaylist());
    else void sendFile(req, res, join(folder, path), url.searchParams);
  });

  async function sendFile(
    req: IncomingMessage,
    res: ServerResponse,
    file: string,
    faults: URLSearchParams,
  ): Promise<void> {
    const type = types[extname(file)];
    const stats = type === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    if (type === undefined || stats === undefined) {
      res.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here');
      return;
    }
    const { pathname } = new URL(req.url ?? '/', 'http://site');
    requests.push({ path: pathname, range: req.headers.range ?? null });
    const etag = `"${stats.size}-${stats.mtimeMs}"`;
    const { start, end, partial } = rangeOf(req, stats.size, etag);
    if (start >= stats.size) {
      res.writeHead(416, { 'Content-Range': `bytes */${stats.size}` }).end();
      return;
    }
    res.writeHead(partial ? 206 : 200, {
      'Content-Type': type,
      'Accept-Ranges': 'bytes',
      ETag: etag,
      'Content-Length': end - start + 1,
      ...(partial ? { 'Content-Range': `bytes ${start}-${end}/${stats.size}` } : {}),
    });
    if (req.method === 'HEAD') {
      res.end();
      return;
    }
    res.flushHeaders();
    const cutAt = Number(faults.get('cut') ?? 1) * stats.size;
    const pace = { rate: Number(faults.get('rate') ?? Infinity), free: Number(faults.get('free') ?? 0) };
    const body = createReadStream(file, { start, end, highWaterMark: 256 * 1024 });
    const left = new AbortController();
    res.on('close', () => {
      left.abort();
      body.destroy();
    });
    const startedAt = performance.now();
    let sent = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        sent += chunk.length;
        sentBytes += chunk.length;
        if (start + sent > cutAt) {
          res.destroy();
          return;
        }
        const dueMs = (Math.max(0, sent - pace.free) / pace.rate) * 1000 - (performance.now() - startedAt);
        if (dueMs > 1) await delay(dueMs, undefined, { signal: left.signal });
        if (res.destroyed) break;
        if (!res.write(chunk)) await once(res, 'drain', { signal: left.signal });
      }
    } catch (error) {
      // The reader may leave whenever it likes, which ends the file too.
      if (!res.destroyed) throw error;
    }
    if (res.destroyed) events.emit('gone');
    else res.end();
  }

  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The sample site has no port.');
  const host = `${address}:${bound.port}`;
  const happened = async (event: string): Promise<void> => {
    await once(events, event);
  };
  return {
    host,
    url: (path) => `http://${host}${path}`,
    sentBytes: () => sentBytes,
    asked: (path) => happened(`asked ${path}`),
    readerGone: () => happened('gone'),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function pageAt(path: string, query: URLSearchParams): string | undefined {
  const suffix = query.size === 0 ? '' : `?${query.toString()}`;
  switch (path) {
    case '/film':
      return videoPage(
        film.title,
        film.heights
          .map(
            (height) =>
              `<source src="/film-${height}.mp4${suffix}" type="video/mp4" label="${height}p" res="${height}">`,
          )
          .join(''),
      );
    case '/film-hls':
      return videoPage(film.title, '<source src="/master.m3u8" type="application/vnd.apple.mpegurl">');
    case '/watch':
      return videoPage(film.title, `<source src="/${query.get('media') ?? ''}${suffix}">`);
    case '/with-picture':
      return page('A film with a picture', '<video src="/film-720.mp4" poster="/poster.svg"></video>');
    case '/only-words':
      return page('Only words', '<p>Nothing to see.</p>');
    case '/':
      return page('The sample site', '<p>Nothing to see.</p>');
    default:
      return undefined;
  }
}

const videoPage = (title: string, sources: string) =>
  page(title, `<h1>${title}</h1><video controls>${sources}</video>`);

const page = (title: string, body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;

function send(res: ServerResponse, type: string, body: string): void {
  res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

/** The whole where a range is of another version of the file (RFC 9110 §13.1.5). */
function rangeOf(
  { headers }: IncomingMessage,
  size: number,
  etag: string,
): { start: number; end: number; partial: boolean } {
  const isOfOther = headers['if-range'] !== undefined && headers['if-range'] !== etag;
  const asked = isOfOther ? undefined : headers.range;
  const [, from, to = ''] = /^bytes=(\d+)-(\d*)$/.exec(asked ?? '') ?? [];
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  return { start: Number(from ?? 0), end, partial: from !== undefined };
}
