import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { film, masterPlaylist } from './sample-media.mjs';

const types = { '.mp4': 'video/mp4', '.m3u8': 'application/vnd.apple.mpegurl', '.ts': 'video/mp2t' };

const page = (sources) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${film.title}</title></head>
<body><h1>${film.title}</h1><video controls>${sources}</video></body></html>`;

const pages = {
  '/film': page(
    film.heights
      .map(
        (height) => `<source src="/film-${height}.mp4" type="video/mp4" label="${height}p" res="${height}">`,
      )
      .join(''),
  ),
  '/film-hls': page('<source src="/master.m3u8" type="application/vnd.apple.mpegurl">'),
};

/**
 * A small web site on loopback with a page for each way the film is offered.
 * @param {string} folder where `makeSampleFilm` has put its files
 */
export async function startSampleSite(folder) {
  const server = createServer((req, res) => {
    const path = normalize(new URL(req.url, 'http://site').pathname);
    if (pages[path] !== undefined) return send(res, 'text/html; charset=utf-8', pages[path]);
    if (path === '/master.m3u8') return send(res, types['.m3u8'], masterPlaylist());
    return sendFile(req, res, join(folder, path));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${server.address().port}`;
  return {
    host,
    url: (path) => `http://${host}${path}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function send(res, type, body) {
  res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

function sendFile(req, res, file) {
  const type = types[extname(file)];
  const stats = type === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) {
    res.writeHead(404, { 'Content-Type': 'text/plain' });
    res.end('not here');
    return;
  }
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(req.headers.range ?? '') ?? [];
  const partial = from !== '';
  const start = partial ? Number(from) : 0;
  const end = to === '' ? stats.size - 1 : Math.min(Number(to), stats.size - 1);
  res.writeHead(partial ? 206 : 200, {
    'Content-Type': type,
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(partial ? { 'Content-Range': `bytes ${start}-${end}/${stats.size}` } : {}),
  });
  if (req.method === 'HEAD') res.end();
  else
    createReadStream(file, { start, end })
      .on('error', () => res.destroy())
      .pipe(res);
}
