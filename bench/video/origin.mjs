/** The media server of the benchmark, a process of its own: pages and files on loopback, with ranges. */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mediaFolder } from './media.mjs';

let sentBytes = 0;

const server = createServer(async (req, res) => {
  const url = new URL(req.url, 'http://origin');
  if (url.pathname === '/sent') return res.end(String(sentBytes));
  if (url.pathname === '/watch') {
    res.setHeader('content-type', 'text/html');
    return res.end(`<title>A video</title><video src="/media/${url.searchParams.get('media')}"></video>`);
  }
  const file = join(mediaFolder, url.pathname.replace('/media/', ''));
  const size = await stat(file).then(
    (found) => found.size,
    () => undefined,
  );
  if (!url.pathname.startsWith('/media/') || size === undefined) return res.writeHead(404).end();
  const range = /^bytes=(\d+)-(\d*)$/u.exec(req.headers.range ?? '');
  const start = Number(range?.[1] ?? 0);
  const end = Math.min(Number(range?.[2] || Infinity), size - 1);
  res.writeHead(range ? 206 : 200, {
    'content-type': file.endsWith('.m4a') ? 'audio/mp4' : 'video/mp4',
    'accept-ranges': 'bytes',
    'content-length': end - start + 1,
    ...(range && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  if (req.method === 'HEAD') return res.end();
  const body = createReadStream(file, { start, end, highWaterMark: 256 * 1024 });
  body.on('data', (chunk) => (sentBytes += chunk.length));
  res.on('close', () => body.destroy());
  res.on('error', () => undefined);
  await send(body, res, Number(url.searchParams.get('rate') ?? Infinity));
});

/** Sends at most so many bytes a second. */
async function send(body, res, rate) {
  const start = performance.now();
  let sent = 0;
  try {
    for await (const chunk of body) {
      sent += chunk.length;
      const dueMs = (sent / rate) * 1000 - (performance.now() - start);
      if (dueMs > 1) await delay(dueMs);
      if (!res.write(chunk)) await once(res, 'drain');
    }
    res.end();
  } catch (error) {
    // The reader left; that is its right.
    res.destroy(error);
  }
}

server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
process.on('disconnect', () => process.exit(0));
