import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { mediaTypeOf, send, sendFile, type SiteOptions, startSite } from '../server.js';
import { film, masterPlaylist } from './film.js';

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
 * `/film` and `/watch` pass their query on to the files: `rate=` is bytes a second,
 * and `cut=` the share of the file (0 to 1) after which the connection breaks.
 */
export async function startSampleSite(
  folder: string,
  {
    port = 0,
    address = '127.0.0.1',
    tls,
  }: { port?: number; address?: string; tls?: SiteOptions['tls'] } = {},
): Promise<SampleSite> {
  const events = new EventEmitter();
  let sentBytes = 0;
  const requests: { readonly path: string; readonly range: string | null }[] = [];
  const site = await startSite({
    host: address,
    port,
    tls,
    content: async (req, res, { pathname, searchParams }) => {
      events.emit(`asked ${pathname}`);
      if (pathname === '/hangs') return;
      const page = pageAt(pathname, searchParams);
      const document = documentAt(pathname, requests);
      if (page !== undefined) {
        send(res, 'text/html; charset=utf-8', page);
        return;
      }
      if (document !== undefined) {
        send(res, document.type, document.body);
        return;
      }
      if (pathname === '/redirect') {
        res.writeHead(302, { location: searchParams.get('to') ?? '/' }).end();
        return;
      }
      const type = mediaTypeOf(pathname);
      if (type === undefined) {
        res.writeHead(404).end();
        return;
      }
      requests.push({ path: pathname, range: req.headers.range ?? null });
      res.once('close', () => {
        if (!res.writableFinished) events.emit('gone');
      });
      await sendFile(req, res, join(folder, pathname), type, {
        bytesPerSecond: Number(searchParams.get('rate') ?? Infinity),
        share: Number(searchParams.get('cut') ?? 1),
        onSent: (bytes) => (sentBytes += bytes),
      });
    },
  });
  const happened = async (event: string): Promise<void> => {
    await once(events, event);
  };
  return {
    host: site.host,
    url: (path) => `${site.url}${path}`,
    sentBytes: () => sentBytes,
    asked: (path) => happened(`asked ${path}`),
    readerGone: () => happened('gone'),
    [Symbol.asyncDispose]: () => site.close(),
  };
}

function documentAt(path: string, requests: unknown): { type: string; body: string } | undefined {
  switch (path) {
    case '/seen':
      return { type: 'application/json', body: JSON.stringify({ requests }) };
    case '/poster.svg':
      return { type: 'image/svg+xml', body: poster };
    case '/master.m3u8':
      return { type: 'application/vnd.apple.mpegurl', body: masterPlaylist() };
    default:
      return undefined;
  }
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
