/**
 * A web site with one generated video. `/film` is its page; `?rate=` limits the video to that many
 * bytes per second after its first megabyte. `/changing` is the page of a video that changes to
 * another version of the same size after each `/next-version`. `/picture.jpg` is the image that
 * the verifier puts into the folder for temporary files.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const film = '/tmp/film.mp4';
const freeBytes = 1_000_000;
let version = 1;

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
  if (url.pathname === '/changing.mp4') {
    sendChanging(request, response);
    return;
  }
  if (url.pathname === '/picture.jpg') {
    response.setHeader('Content-Type', 'image/jpeg');
    response.end(readFileSync('/tmp/picture.jpg'));
    return;
  }
  if (url.pathname === '/next-version') version += 1;
  const film = url.pathname === '/changing' ? '/changing.mp4' : '/film.mp4';
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(
    `<!doctype html><title>A film for the proof</title><video src="${film}${url.search}"></video>`,
  );
}).listen(8000);

/** The video with other bytes at its beginning (the minor brand) and at its end, so that a mix of two versions is detected. */
function sendChanging(request: IncomingMessage, response: ServerResponse): void {
  const bytes = readFileSync(film);
  bytes.writeUInt32BE(version, 12);
  bytes.writeUInt32BE(version, bytes.length - 4);
  const tag = `"v${version}"`;
  const { range = '', 'if-range': condition = tag } = request.headers;
  const [, from, to] = (condition === tag && /^bytes=(\d+)-(\d*)$/.exec(range)) || [];
  const start = Number(from ?? 0);
  const end = to ? Math.min(Number(to), bytes.length - 1) : bytes.length - 1;
  response.writeHead(from === undefined ? 200 : 206, {
    'Content-Type': 'video/mp4',
    'Accept-Ranges': 'bytes',
    ETag: tag,
    'Content-Length': end - start + 1,
    ...(from === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${bytes.length}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes.subarray(start, end + 1));
}

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

/** The client may disconnect at any time. */
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
