import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { childBoxes, makeBox, type Box } from '../../src/formats/mp4/box.js';
import { made, media, type Site, startSite } from '@media-services/fault-site';
import { receive, type Received } from './support/receive.js';
import { filmOf } from '../parser-process/smallest-units.js';
import { expectFreeLoop } from '../service/support/watch-loop.js';
import { ServiceProcess } from './support/service-process.js';

let site: Site;
let service: ServiceProcess;

beforeAll(async () => {
  site = await startSite();
  await media('front.mp4');
  service = await ServiceProcess.start({
    ALLOWED_PRIVATE_SOURCES: site.host,
    TRUST_PROXY_HOPS: '1',
    ENGINE_PROCESSES: '2',
    STREAMS_MAX: '2',
    VIDEO_MAX_SECONDS: '100',
  });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const ask = (kind: string, page: string, client = '192.0.2.1', headers: Record<string, string> = {}) =>
  receive(`${service.url}${kind}?url=${encodeURIComponent(`${site.url}${page}`)}`, {
    headers: { 'x-forwarded-for': client, ...headers },
  });

const serve = (path: string, bytes: Buffer, type: string) =>
  site.on(path, (_request, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': bytes.length }).end(bytes);
  });

const codeOf = ({ body }: Received) => (JSON.parse(body.toString()) as { code: string }).code;

interface Watched {
  readonly answer: Received;
  /** Peak memory of one ffmpeg or ffprobe. */
  readonly mostBytes: number;
}

/** Sends a request while a second client requests an ordinary page. */
async function watched(work: () => Promise<Received>): Promise<Watched> {
  const over = new AbortController();
  let mostBytes = 0;
  const looking = (async () => {
    while (!over.signal.aborted) {
      for (const [pid, name] of await service.children()) {
        if (!/^(?:ff|sh$)/u.test(name)) continue;
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
        mostBytes = Math.max(mostBytes, Number(/VmHWM:\s+(\d+)/u.exec(status)?.[1] ?? 0) * 1024);
      }
      await delay(20);
    }
  })();
  const other = ask('/api/info', `/watch?title=${Math.random()}`, '192.0.2.9');
  const answer = await work();
  expect((await other).status).toBe(200);
  over.abort();
  await looking;
  return { answer, mostBytes };
}

/** A text frame of an ID3 tag, which ffmpeg prints in one line. */
function textFrame(name: string, text: string): Buffer {
  const body = Buffer.concat([Buffer.from([0]), Buffer.from(`${name}\0${text}`, 'latin1')]);
  const header = Buffer.alloc(10);
  header.write('TXXX', 0, 'latin1');
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

it.each(['a.'.repeat(127), 'size='.repeat(50), ': Video: '.repeat(28)])(
  'lines of 58 kB on stderr do not hold the event loop: %.20s',
  async (piece) => {
    const text = Array(Math.floor(58_000 / piece.length))
      .fill(piece)
      .join('\b');
    const frames = Buffer.concat([0, 1, 2, 3].map((index) => textFrame(`t${index}`, text)));
    const header = Buffer.alloc(10);
    header.write('ID3', 0, 'latin1');
    header[3] = 3;
    [21, 14, 7, 0].forEach((shift, index) => (header[6 + index] = (frames.length >> shift) & 127));
    const sound = await readFile(await media('sound.aac'));
    serve('/media/lines.aac', Buffer.concat([header, frames, sound]), 'audio/aac');
    await expectFreeLoop(service, async (round) => {
      await ask('/api/stream', `/media/lines.aac?${piece.length}-${round}`);
      return true;
    });
  },
);

/** An MP4 of 1.8 kB whose only track has this many one-byte samples. */
function manySamples(file: Buffer, count: number): Buffer {
  const numbers = (...values: number[]) => {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, index) => bytes.writeUInt32BE(value, index * 4));
    return bytes;
  };
  const tables: Record<string, Buffer> = {
    stsz: numbers(0, 1, count),
    stts: numbers(0, 1, count, 2),
    stsc: numbers(0, 1, 1, count, 1),
    stco: numbers(0, 1, 48),
  };
  const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
  const edited = ({ type, bytes }: Box): Buffer => {
    const table = tables[type];
    if (table !== undefined) return makeBox(type, [table]);
    return containers.has(type) ? makeBox(type, childBoxes(bytes).map(edited)) : bytes;
  };
  const top = childBoxes(makeBox('file', [file]));
  const kept = top.filter(({ type }) => type === 'ftyp' || type === 'moov');
  return Buffer.concat([...kept.map(edited), makeBox('mdat', [Buffer.alloc(1_000)])]);
}

it.each(['/api/info', '/api/stream'])('a header with an index of 1.4 GB ends %s', async (kind) => {
  const file = manySamples(await readFile(await media('sound.m4a')), 60_000_000);
  serve('/media/many-samples.m4a', file, 'audio/mp4');
  const { answer, mostBytes } = await watched(() => ask(kind, `/media/many-samples.m4a?${kind}`));
  expect(mostBytes).toBeLessThan(512 * 2 ** 20);
  if (kind === '/api/stream') expect(answer.status).toBeGreaterThanOrEqual(400);
});

it('rejects frames of 81 megapixels', async () => {
  const path = await made('huge.mkv', {
    args: [
      ...['-f', 'lavfi', '-i', 'color=c=black:size=9000x9000:rate=5', '-frames:v', '2', '-c:v', 'png'],
      ...['-pred', 'none', '-threads', '1', '-pix_fmt', 'rgba', 'huge.mkv'],
    ],
  });
  serve('/media/huge.mkv', await readFile(path), 'video/x-matroska');
  const { answer, mostBytes } = await watched(() => ask('/api/stream/video', '/media/huge.mkv'));
  expect(answer.status === 200 && answer.complete).toBe(false);
  expect(mostBytes).toBeLessThan(512 * 2 ** 20);
});

it('lets a client resume a long MP3, but not request its last byte repeatedly', async () => {
  const page = '/media/long-sound.m4a';
  const { headers, body } = await ask('/api/stream', page);
  const last = {
    range: `bytes=${body.length - 1}-`,
    'if-range': headers.etag ?? '',
  };
  const first = await ask('/api/stream', page, '192.0.2.1', last);
  expect({ status: first.status, bytes: first.body.length }).toEqual({ status: 206, bytes: 1 });
  const again = await ask('/api/stream', page, '192.0.2.1', last);
  expect({ status: again.status, code: codeOf(again) }).toEqual({ status: 429, code: 'rate_limited' });
  expect(Number(again.headers['retry-after'])).toBeGreaterThan(60);
  expect((await ask('/api/stream', page, '192.0.2.2', last)).status).toBe(206);
  expect((await ask('/api/stream', page, '192.0.2.1')).status).toBe(200);
});

it('a film of 100 000 parts of one byte does not hold the event loop', async () => {
  const samples = 100_000;
  const withMediaAt = (start: number) => {
    // A byte between two samples, so that they can't be sent together.
    const offsets = Array.from({ length: samples }, (_, index) => start + 2 * index);
    const film = filmOf({ samples, bytes: 1, offsets });
    return [makeBox('ftyp', [Buffer.from('qt  ')]), makeBox('moov', film)];
  };
  const headerBytes = Buffer.concat(withMediaAt(0)).length + 8;
  const media = makeBox('mdat', [Buffer.alloc(2 * samples)]);
  const bytes = Buffer.concat([...withMediaAt(headerBytes), media]);
  site.on('/media/parts.mov', (request, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d*)$/u.exec(request.headers.range ?? 'bytes=0-') ?? [];
    const part = bytes.subarray(Number(start), end === '' ? undefined : Number(end) + 1);
    const position = `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}`;
    response.writeHead(206, { 'content-type': 'video/quicktime', 'content-range': position }).end(part);
  });
  await expectFreeLoop(service, async () => {
    const { status, headers, body, complete } = await ask('/api/stream/video', '/media/parts.mov');
    expect({ status, complete, length: headers['content-length'] }).toEqual({
      status: 200,
      complete: true,
      length: String(body.length),
    });
    expect(body.length).toBeGreaterThan(samples);
    return true;
  });
});

it('a trickling source loses its slot when another request waits', async () => {
  const segments = await media('hls-long');
  const segment = async (name: string) => readFile(`${segments}/${name}`);
  site.on('/drips.m3u8', (_request, response) => {
    const lines = Array.from({ length: 11 }, (_, index) => `#EXTINF:1,\n/media/hls-long/index${index}.ts`);
    const drip = '#EXTINF:1,\n/drip.ts\n#EXT-X-ENDLIST\n';
    response
      .writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' })
      .end(`#EXTM3U\n#EXT-X-TARGETDURATION:2\n${lines.join('\n')}\n${drip}`);
  });
  const whole = await segment('index11.ts');
  site.on('/drip.ts', (_request, response) => {
    response.writeHead(200, { 'content-type': 'video/mp2t' });
    let sent = 0;
    const timer = setInterval(() => response.write(whole.subarray(sent, ++sent)), 500);
    response.on('close', () => clearInterval(timer));
  });
  const leaving = new AbortController();
  const holders = [1, 2].map(async (number) =>
    receive(`${service.url}/api/stream/video?url=${encodeURIComponent(`${site.url}/drips.m3u8?${number}`)}`, {
      headers: { 'x-forwarded-for': `192.0.2.1${number}` },
      signal: leaving.signal,
    }),
  );
  while ((await service.metric('media_streams_in_flight')) < 2) await delay(100);
  const good = await ask('/api/stream', '/watch?good', '192.0.2.20');
  expect({ status: good.status, complete: good.complete }).toEqual({ status: 200, complete: true });
  // Only as many as other requests need.
  const ended = await Promise.race(holders);
  expect(ended.complete).toBe(false);
  // A test that runs once more still needs the service.
  leaving.abort();
  await Promise.allSettled(holders);
});
