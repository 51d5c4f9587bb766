import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { root } from './stack.js';

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

interface PageServer extends AsyncDisposable {
  readonly url: string;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/**
 * Serves the web page below a path, with services that behave as a test defines:
 * for failures and features that the real stack can't show.
 * @param handlers by path below the base, without the query
 */
export async function startPageServer(
  handlers: Readonly<Record<string, Handler>>,
  base = '/',
): Promise<PageServer> {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://page');
    if (!pathname.startsWith(base)) {
      res.writeHead(404).end();
      return;
    }
    const path = pathname.slice(base.length);
    const handler = handlers[path];
    if (handler) handler(req, res);
    else serveFile(path, res);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}${base.replace(/\/$/, '')}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** As nginx finds them: the file, the file with `.html`, the folder's index. */
function serveFile(path: string, res: ServerResponse): void {
  const folder = join(root, 'nginx/html');
  const file = ['', '.html', '/index.html']
    .map((end) => normalize(join(folder, path) + end))
    .find((name) => name.startsWith(folder) && existsSync(name) && statSync(name).isFile());
  if (file === undefined) {
    res.writeHead(404, { 'Content-Type': 'text/plain' }).end('not here');
    return;
  }
  res.writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' });
  res.end(readFileSync(file));
}

export function sendJson(res: ServerResponse, body: unknown, status = 200): void {
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** `/api/health` of two healthy services without limits of requests. */
export const healthy: Handler = (_req, res) => {
  const bgRemoval = { status: 'ok', limits: { imagesPerMinute: 0 } };
  const limits = { videoRequestsPerMinute: 0, streamsPerClient: 4 };
  sendJson(res, {
    status: 'ok',
    limits,
    services: { 'video-dl': { status: 'ok' }, 'bg-removal': bgRemoval },
  });
};

/** A response of `/api/info` with these downloads. */
export function infoWith(
  downloads: readonly object[],
  formats: readonly object[] = [],
  more: object = {},
): Handler {
  return (_req, res) => {
    sendJson(res, {
      id: '1',
      title: 'A film',
      thumbnail: null,
      duration: 12,
      uploader: null,
      uploadDate: null,
      webpageUrl: 'https://example.com/film',
      playlistIndex: null,
      playlistCount: null,
      items: [],
      formats,
      downloads,
      ...more,
    });
  };
}
