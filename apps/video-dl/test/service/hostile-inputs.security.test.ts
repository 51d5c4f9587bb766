import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { media, type Site, startSite } from '@media-services/fault-site';
import { parsePageUrl } from '../../src/extract/page-url.js';
import { ServiceProcess } from '../deliver/support/service-process.js';
import { startService } from '../support/service.js';
import { expectFreeLoop } from './support/watch-loop.js';

/**
 * Hostile pages and files, sent to the service as an operator runs it. While it reads each of
 * them, other clients are served, and the service's own process neither stalls nor grows.
 */

const maxResidentBytes = 400 * 1024 ** 2;
const maxOthersWaitMs = 5000;

let site: Site;
let service: ServiceProcess;
let counter = 0;

beforeAll(async () => {
  await media('front.mp4');
  site = await startSite();
  service = await ServiceProcess.start({
    ALLOWED_PRIVATE_SOURCES: site.host,
    TRUST_PROXY_HOPS: '1',
    ENGINE_PROCESSES: '2',
    LOG_LEVEL: 'info',
  });
  // Warm up, because code is slow the first time it runs.
  expect((await info('/watch', 'warm')).status).toBe(200);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site.close();
});

async function info(path: string, client: string): Promise<{ status: number; code: string | undefined }> {
  const url = encodeURIComponent(`${site.url}${path}`);
  const response = await fetch(`${service.url}/api/info?url=${url}`, {
    headers: { 'x-forwarded-for': client === 'hostile' ? '203.0.113.1' : '203.0.113.2' },
  });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, code };
}

const reply = (response: ServerResponse, type: string, body: string | Buffer): void =>
  void response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);

const mpd = (content: string, total = 'PT4S') =>
  `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="${total}">${content}</MPD>`;
const harmlessManifest = mpd(
  '<Period><AdaptationSet contentType="video"><SegmentTemplate timescale="1" duration="4" media="c-$Number$.m4s"/><Representation id="0" mimeType="video/mp4" codecs="avc1.64000c" bandwidth="1000" width="320" height="180"/></AdaptationSet></Period>',
);
const playlist = (lines: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${lines}#EXT-X-ENDLIST\n`;
const hlsType = 'application/vnd.apple.mpegurl';

/** A manifest that is harmless when yt-dlp reads it, and another one afterwards. */
function manifest(bomb: string): string {
  const path = `/hostile/${counter++}.mpd`;
  let asked = 0;
  site.on(path, (_request: IncomingMessage, response: ServerResponse) => {
    asked += 1;
    reply(response, 'application/dash+xml', asked === 1 ? harmlessManifest : bomb);
  });
  return path;
}

/** A playlist that redirects when the relay reads it. @param place the new location */
function playlistAt(place: string, bomb: string): string {
  const path = `/hostile/${counter++}.m3u8`;
  let asked = 0;
  site.on(path, (_request: IncomingMessage, response: ServerResponse) => {
    asked += 1;
    if (asked <= 2) reply(response, hlsType, playlist('#EXTINF:1.0,\na.ts\n'));
    else response.writeHead(302, { location: place }).end();
  });
  site.on(place, (_request: IncomingMessage, response: ServerResponse) => reply(response, hlsType, bomb));
  return path;
}

const long = (length: number) => `/${'a'.repeat(length)}/${counter++}.m3u8`;
const baseUrl = (letter: string) => `<BaseURL>${letter.repeat(2000)}/</BaseURL>`;
const smallestBoxes = (bytes: number) => {
  const boxes = Buffer.alloc(8 * Math.floor(bytes / 8));
  for (let at = 0; at < boxes.length; at += 8) boxes.write('\0\0\0\bfree', at, 'latin1');
  return boxes;
};
const box = (type: string, ...parts: readonly Buffer[]) => {
  const content = Buffer.concat(parts);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
};

/** An MP4 whose index consists of the smallest boxes. */
async function indexBomb(bytes: number): Promise<string> {
  const file = await readFile(await media('front.mp4'));
  const start = file.indexOf('moov') - 4;
  const end = start + file.readUInt32BE(start);
  const trak = box('trak', box('mdia', box('minf', box('stbl', smallestBoxes(bytes)))));
  const bomb = Buffer.concat([
    file.subarray(0, start),
    box('moov', file.subarray(start + 8, end), trak),
    file.subarray(end),
  ]);
  const path = `/hostile/${counter++}.mp4`;
  site.on(path, (_request: IncomingMessage, response: ServerResponse) => reply(response, 'video/mp4', bomb));
  return path;
}

/** A playlist with the maximum number of large initialisations, each consisting of the smallest boxes. */
async function initialisationBombs(): Promise<string> {
  const init = await readFile(join(await media('hls-fmp4'), 'init.mp4'));
  const bomb = Buffer.concat([init.subarray(0, 24), box('moov', smallestBoxes(1_000_000))]);
  site.on('/hostile/init.mp4', (_request: IncomingMessage, response: ServerResponse) =>
    reply(response, 'video/mp4', bomb),
  );
  const lines = Array.from(
    { length: 31 },
    (_, number) =>
      `#EXT-X-MAP:URI="/hostile/init.mp4?${number}"\n#EXTINF:1.0,\n/hostile/none.m4s?${number}\n`,
  );
  return playlistAt(`/hostile/inits-${counter++}.m3u8`, playlist(lines.join('')));
}

describe('a second client is served, and nothing stalls, while the service reads', () => {
  it.each<readonly [string, () => string | Promise<string>]>([
    [
      'a manifest with 60 000 attributes for each of 100 Representations',
      () => {
        const attributes = Array.from({ length: 60_000 }, (_, index) => ` a${index.toString(36)}=""`).join(
          '',
        );
        return manifest(
          mpd(
            `<Period><AdaptationSet contentType="video"${attributes}><SegmentTemplate duration="4" media="c-$Number$.m4s"/>${'<Representation/>'.repeat(100)}</AdaptationSet></Period>`,
          ),
        );
      },
    ],
    [
      'a manifest with four nested base URLs and 20 000 segments',
      () => {
        const template = '<SegmentTemplate timescale="1" duration="1" media="$Number$"/>';
        const representation = `<Representation id="v" mimeType="video/mp4">${baseUrl('d')}${template}</Representation>`;
        const set = `<AdaptationSet contentType="video">${baseUrl('c')}${representation}</AdaptationSet>`;
        return manifest(mpd(`${baseUrl('a')}<Period>${baseUrl('b')}${set}</Period>`, 'PT20000S'));
      },
    ],
    [
      'a playlist of 20 000 segments at a URL of 8 kB',
      () => playlistAt(long(8000), playlist('#EXTINF:1.0,\na\n'.repeat(20_000))),
    ],
    [
      'a playlist of 10 000 segments at a URL of 60 kB',
      () => playlistAt(long(60_000), playlist('#EXTINF:1.0,\na\n'.repeat(10_000))),
    ],
    [
      'a playlist of 10 000 initialisations',
      () => playlistAt(long(8000), playlist(`${'#EXT-X-MAP:URI="i"\n'.repeat(10_000)}#EXTINF:1.0,\na\n`)),
    ],
    [
      'a playlist of 10 000 keys',
      () =>
        playlistAt(
          long(8000),
          playlist('#EXT-X-KEY:METHOD=AES-128,URI="k"\n#EXTINF:1.0,\na\n'.repeat(10_000)),
        ),
    ],
    ['an index of a million boxes', () => indexBomb(7_300_000)],
    ['31 initialisations of 125 000 boxes', initialisationBombs],
  ])('%s', async (_what, make) => {
    const { residentBytes } = await expectFreeLoop(service, async () => {
      const path = await make();
      let readAt = Infinity;
      const attack = info(path, 'hostile').finally(() => (readAt = performance.now()));
      const startedAt = performance.now();
      expect((await info(`/watch?title=${counter++}`, 'other')).status).toBe(200);
      // On a busy machine everything is slow, so it is enough not to wait for the hostile input.
      const servedAt = performance.now();
      const isServed = readAt > servedAt || servedAt - startedAt <= maxOthersWaitMs;
      expect((await attack).code).not.toBe('internal_error');
      return isServed;
    });
    expect(residentBytes).toBeLessThan(maxResidentBytes);
  });
});

/** A renewal is an extraction that a stream starts. It counts towards the share of the stream's client. */
it("one client's renewals leave an engine for others", async () => {
  await using site = await startSite();
  let dripping = 0;
  let onDrip = (): void => undefined;
  const firstDrips = new Promise<void>((resolve) => (onDrip = resolve));
  site.on('/drip', (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
    dripping += 1;
    onDrip();
  });
  await using service = await startService({
    ALLOWED_PRIVATE_SOURCES: site.host,
    ENGINE_PROCESSES: '2',
    EXTRACTION_TIMEOUT_SECONDS: '600',
  });
  const { extraction } = service.context;
  const ended = new AbortController();
  const greedy = { client: 'greedy', signal: ended.signal };
  const source = {
    origin: { formatId: '0', extractedAt: Date.now(), exit: 0 },
    url: `${site.url}/media/front.mp4`,
    headers: {},
    kind: 'file' as const,
  };
  const held = [1, 2, 3].map(async (number) =>
    extraction
      .renew(parsePageUrl(`${site.url}/drip?${number}`), source, greedy)
      .catch((error: unknown) => error),
  );
  await firstDrips;
  const other = { client: 'other', signal: new AbortController().signal };
  await expect(extraction.extract(parsePageUrl(`${site.url}/watch`), other)).resolves.toMatchObject({
    durationSeconds: 4,
  });
  expect(dripping).toBe(1);
  ended.abort(new Error('the test is over'));
  await Promise.all(held);
});
