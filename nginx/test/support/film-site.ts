import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A page with one film that is sent whole, slowly, or never beyond its first part. */
export interface FilmSite {
  readonly host: string;
  readonly pageUrl: (kind: 'whole' | 'slow' | 'cut' | 'redirect' | 'silent') => string;
  /** Resolves when somebody waits for the page that never answers. */
  silentPageAsked: () => Promise<void>;
  /** Resolves when the next request for slow media has been cut off by its reader. */
  slowReaderGone: () => Promise<void>;
  close: () => Promise<void>;
}

const slowChunkBytes = 32 * 1024;

export async function startFilmSite(filmFile: string, redirectTarget: string): Promise<FilmSite> {
  const film = readFileSync(filmFile);
  let gone = (): void => undefined;
  const slowGone = new Promise<void>((resolve) => (gone = resolve));

  let asked = (): void => undefined;
  const silentAsked = new Promise<void>((resolve) => (asked = resolve));

  const server = createServer((req, res) => {
    const [, kind = '', file] = (req.url ?? '').replace(/\?.*/, '').split('/');
    if (kind === 'silent') {
      asked();
    } else if (kind === 'redirect') {
      res.writeHead(302, { Location: redirectTarget }).end();
    } else if (file === undefined) {
      res.writeHead(200, { 'Content-Type': 'text/html' });
      res.end(`<title>Film</title><video src="/${kind}/film.mp4" type="video/mp4"></video>`);
    } else {
      void sendFilm(res, kind, req.headers.range);
    }
  });

  async function sendFilm(res: ServerResponse, kind: string, range: string | undefined): Promise<void> {
    const [, from = '0', to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const start = Number(from);
    const end = to ? Math.min(Number(to), film.length - 1) : film.length - 1;
    res.writeHead(range === undefined ? 200 : 206, {
      'Content-Type': 'video/mp4',
      'Accept-Ranges': 'bytes',
      'Content-Length': end - start + 1,
      ...(range === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${film.length}` }),
    });
    const limit = kind === 'cut' ? film.length / 2 : film.length;
    for (let at = start; at <= end && !res.destroyed; at += slowChunkBytes) {
      if (at >= limit) {
        res.destroy();
        return;
      }
      res.write(film.subarray(at, Math.min(at + slowChunkBytes, end + 1)));
      if (kind === 'slow') await delay(100);
    }
    if (kind === 'slow' && res.destroyed) gone();
    res.end();
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    pageUrl: (kind) => `http://${host}/${kind}`,
    slowReaderGone: () => slowGone,
    silentPageAsked: () => silentAsked,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
