/**
 * A web site with one film, made on the spot. `/film` is its page; with `?rate=` the
 * film comes with so many bytes a second after its first megabyte.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';

const film = '/tmp/film.mp4';
const freeBytes = 1_000_000;

execFileSync('ffmpeg', [
  ...['-v', 'error', '-nostdin', '-y'],
  ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25:duration=30'],
  ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=30'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-b:v', '2M'],
  ...['-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart', film],
]);
const { size } = statSync(film);

createServer((request, response) => {
  const url = new URL(request.url, 'http://source');
  if (url.pathname === '/film.mp4')
    return void sendFilm(request, response, Number(url.searchParams.get('rate')));
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(
    `<!doctype html><title>A film for the proof</title><video src="/film.mp4${url.search}"></video>`,
  );
}).listen(8000);

async function sendFilm(request, response, rate) {
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  response.writeHead(from === '' ? 200 : 206, {
    'Content-Type': 'video/mp4',
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(from === '' ? {} : { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD') return void response.end();
  try {
    await pipeline(createReadStream(film, { start, end }), throttle(rate), response);
  } catch (error) {
    // The reader may leave whenever it likes.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE' && error.code !== 'ECONNRESET') throw error;
  }
}

function throttle(rate) {
  let sent = 0;
  return new Transform({
    async transform(chunk, _encoding, done) {
      sent += chunk.length;
      if (rate > 0 && sent > freeBytes) await delay((chunk.length / rate) * 1000);
      done(null, chunk);
    },
  });
}
