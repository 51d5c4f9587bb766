import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { startSite, type Site } from '@media-services/fault-site';
import { makeBox } from '../../src/formats/mp4/box.js';
import { adts, fragment, movie, packet, words } from '../parser-process/smallest-units.js';
import { receive } from '../deliver/support/receive.js';
import { ServiceProcess } from '../deliver/support/service-process.js';
import { expectFreeLoop, residentBytes } from './support/watch-loop.js';

/**
 * Media that once blocked the service's event loop. While the service reads each of them,
 * it stays responsive, serves another client, and its memory stays limited.
 */

const maxOtherClientMs = 5_000;
const maxGrowthBytes = 256 * 1024 ** 2;
/** Of what costs much for every byte: reading it takes seconds. */
const slowBytes = 512 * 1024;

let site: Site;
let service: ServiceProcess;
let pages = 0;

beforeAll(async () => {
  site = await startSite();
  service = await ServiceProcess.start({
    ALLOWED_PRIVATE_SOURCES: site.host,
    ENGINE_PROCESSES: '2',
    TRUST_PROXY_HOPS: '1',
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const repeated = (unit: Buffer, bytes: number) =>
  Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, unit);
const free = makeBox('free', []);

/** A fragment of 7.9 MiB. */
function largeFragment(parts: (bytes: number) => Buffer[]): Buffer {
  return Buffer.concat([makeBox('moof', parts(7.9 * 1024 ** 2)), makeBox('mdat', [Buffer.alloc(16)])]);
}
const head = [makeBox('tfhd', [words(0x02_0000, 1)]), makeBox('tfdt', [words(0, 1000)])];
const smallTrack = makeBox('traf', [...head, makeBox('trun', [words(0, 1)])]);

/** 5500 streams; one is missing after the discontinuity. */
function manyStreams(): readonly [Buffer, Buffer] {
  const all = (time: number) => Array.from({ length: 5500 }, (_, index) => packet.media(32 + index, time));
  const first = [packet.media(31, 90_000), ...all(90_000), packet.media(31, 95_000), ...all(95_000)];
  return [Buffer.concat(first), Buffer.concat(all(900_000))];
}

/** Sends bytes in HTTP chunks of one byte each, as fast as the client reads. */
function sendSingly(response: ServerResponse, type: string, bytes: Buffer): void {
  const { socket } = response;
  if (socket === null) return;
  socket.on('error', () => undefined);
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  let at = 0;
  const next = (): void => {
    while (at < bytes.length) {
      const part = bytes.subarray(at, (at += 10_000));
      const wire = Buffer.alloc(part.length * 6, '1\r\n \r\n');
      for (let index = 0; index < part.length; index += 1) wire[index * 6 + 3] = part[index] ?? 0;
      if (!socket.write(wire)) return void socket.once('drain', next);
    }
    socket.write('0\r\n\r\n');
  };
  next();
}

/** A playlist of these segments. The second starts a new clock. */
function playlist(segments: readonly Buffer[], initialisation?: Buffer): string {
  const path = `/hostile-${(pages += 1)}`;
  const map = initialisation ? `#EXT-X-MAP:URI="${path}/init"\n` : '';
  const lines = segments.map(
    (_, index) =>
      `${index > 0 && !initialisation ? '#EXT-X-DISCONTINUITY\n' : ''}#EXTINF:9,\n${path}/${index}\n`,
  );
  site.on(
    `${path}.m3u8`,
    (_request, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' })
        .end(`#EXTM3U\n#EXT-X-TARGETDURATION:9\n${map}${lines.join('')}#EXT-X-ENDLIST\n`),
  );
  segments.forEach((bytes, index) =>
    site.on(
      `${path}/${index}`,
      (_request, response) => void response.writeHead(200, { 'content-length': bytes.length }).end(bytes),
    ),
  );
  if (initialisation)
    site.on(
      `${path}/init`,
      (_request, response) =>
        void response.writeHead(200, { 'content-length': initialisation.length }).end(initialisation),
    );
  return `${site.url}${path}.m3u8`;
}

const attacks: Readonly<Record<string, () => string | Promise<string>>> = {
  'a fragment of small tracks': () =>
    playlist([fragment(), largeFragment((bytes) => [repeated(smallTrack, bytes)])], movie()),
  'a fragment of empty boxes': () =>
    playlist([fragment(), largeFragment((bytes) => [repeated(free, bytes)])], movie()),
  'a track of empty boxes': () =>
    playlist(
      [fragment(), largeFragment((bytes) => [makeBox('traf', [...head, repeated(free, bytes)])])],
      movie(),
    ),
  '5500 streams in a transport stream': () => playlist(manyStreams()),
  'audio frames of 7 bytes': () => playlist([repeated(adts(), slowBytes)]),
  'boxes of 8 bytes': () => playlist([Buffer.concat([fragment(), repeated(free, 2 * 1024 ** 2)])], movie()),
  'a segment in HTTP chunks of one byte': () => {
    const path = `/hostile-${(pages += 1)}`;
    const bytes = repeated(packet.padding(), slowBytes);
    site.on(
      `${path}.m3u8`,
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' })
          .end(`#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${path}/0\n#EXT-X-ENDLIST\n`),
    );
    site.on(`${path}/0`, (_request, response) => sendSingly(response, 'video/mp2t', bytes));
    return `${site.url}${path}.m3u8`;
  },
  'the head of a file in HTTP chunks of one byte': () => {
    const path = `/hostile-${(pages += 1)}`;
    const bytes = Buffer.concat([
      makeBox('ftyp', [Buffer.from('isom')]),
      makeBox('moov', [Buffer.alloc(4 * 1024 ** 2)]),
    ]);
    site.on(
      path,
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<title>x</title><video src="${path}.mp4"></video>`),
    );
    site.on(`${path}.mp4`, (_request, response) => sendSingly(response, 'video/mp4', bytes));
    return `${site.url}${path}`;
  },
  'a page in HTTP chunks of one byte': () => {
    const path = `/hostile-${(pages += 1)}`;
    const bytes = Buffer.from(`<html><body>${'x '.repeat(slowBytes / 2)}</body></html>`);
    site.on(path, (_request, response) => sendSingly(response, 'text/html', bytes));
    return `${site.url}${path}`;
  },
};

it.each(Object.entries(attacks))('serves others while it reads %s', async (_what, prepare) => {
  const url = await prepare();
  const before = await residentBytes(service.pid);
  const watch = await expectFreeLoop(service, async (round) => {
    const page = encodeURIComponent(`${url}?${round}`);
    let readAt = Infinity;
    const attack = receive(`${service.url}/api/stream?url=${page}`, {
      signal: AbortSignal.timeout(20_000),
      headers: { 'x-forwarded-for': '198.51.100.1' },
    })
      .catch(() => undefined)
      .finally(() => (readAt = performance.now()));
    await delay(300);
    const startedAt = performance.now();
    const other = encodeURIComponent(`${site.url}/watch?n=${(pages += 1)}`);
    const answer = await fetch(`${service.url}/api/info?url=${other}`, {
      headers: { 'x-forwarded-for': '198.51.100.2' },
    });
    expect(answer.status).toBe(200);
    // On a busy machine everything is slow, so it is enough not to wait for the hostile media.
    const servedAt = performance.now();
    const isServed = readAt > servedAt || servedAt - startedAt <= maxOtherClientMs;
    await attack;
    return isServed;
  });
  expect(watch.residentBytes - before).toBeLessThan(maxGrowthBytes);
});
