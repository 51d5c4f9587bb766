/**
 * A web site with one film, made on the spot. `/film` is its page; with `?rate=` the
 * film comes with so many bytes a second after its first megabyte.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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
  const url = new URL(request.url ?? '/', 'http://source');
  if (url.pathname === '/film.mp4') {
    void sendFilm(request, response, Number(url.searchParams.get('rate')));
    return;
  }
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(
    `<!doctype html><title>A film for the proof</title><video src="/film.mp4${url.search}"></video>`,
  );
}).listen(8000);

async function sendFilm(request: IncomingMessage, response: ServerResponse, rate: number): Promise<void> {
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(from);
  const end = to === '' ? size - 1 : Math.min(Number(to), size - 1);
  response.writeHead(from === '' ? 200 : 206, {
    'Content-Type': 'video/mp4',
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(from === '' ? {} : { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  try {
    await pipeline(createReadStream(film, { start, end }), throttle(rate), response);
  } catch (error) {
    if (!hasLeft(error)) throw error;
  }
}

/** The reader may leave whenever it likes. */
function hasLeft(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}

function throttle(rate: number): Transform {
  let sent = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      sent += chunk.length;
      const waitMs = rate > 0 && sent > freeBytes ? (chunk.length / rate) * 1000 : 0;
      setTimeout(() => done(null, chunk), waitMs);
    },
  });
}
