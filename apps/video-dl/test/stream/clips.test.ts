import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { media, sendFile, startSite, type Site } from '@media-services/fault-site';
import { inspect } from '../media/support/inspect.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';
import { findIn, frameNumbers, samplesOf } from './support/clip-media.js';
import { receive, type Received } from './support/receive.js';

const fps = 25;
const seconds = 20;
const sampleRate = 44_100;

let site: Site;
let service: TestService;
let folder: string;
let original: Float32Array;
/** Bytes that the site sent, keyed by path. */
const sent = new Map<string, number>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-clips-'));
  site = await startSite({
    intercept: async (req, res, { url, path, type }) => {
      if (url.searchParams.has('broken')) {
        res.writeHead(404).end();
        return true;
      }
      const { socket } = req;
      const before = socket.bytesWritten;
      const count = () => {
        sent.set(url.pathname, (sent.get(url.pathname) ?? 0) + socket.bytesWritten - before);
      };
      await sendFile(req, res, path, type).finally(count);
      return true;
    },
  });
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host }, { engineScript: fixtureEngine });
  site.on('/indexed.mpd', (_req, res) => {
    res.writeHead(200, { 'content-type': 'application/dash+xml' }).end(indexedManifest);
  });
  original = await samplesOf(await media('numbered-audio.flac'));
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const representation = (kind: string, attributes: string) =>
  `<AdaptationSet mimeType="${kind}/mp4"><Representation id="${kind}" ${attributes}><BaseURL>/media/numbered-indexed-${kind}.mp4</BaseURL><SegmentBase/></Representation></AdaptationSet>`;
/** A file for each track, as YouTube has them. */
const indexedManifest = `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT20S"><Period>${representation('video', 'bandwidth="800000" width="320" height="180" codecs="avc1.64000d"')}${representation('audio', 'bandwidth="96000" codecs="mp4a.40.2"')}</Period></MPD>`;

type Query = Readonly<Record<string, string>>;

async function request(page: string, kind: 'mp3' | 'mp4', query: Query): Promise<Received> {
  const search = new URLSearchParams({ url: `${site.url}${page}`, ...query }).toString();
  return receive(`${service.url}/api/stream${kind === 'mp3' ? '' : '/video'}?${search}`);
}

async function clip(page: string, kind: 'mp3' | 'mp4', query: Query): Promise<Received & { file: string }> {
  const received = await request(page, kind, query);
  if (received.status !== 200) throw new Error(`${received.status}: ${received.body.toString()}`);
  expect(received.complete).toBe(true);
  const file = join(folder, `clip.${kind}`);
  await writeFile(file, received.body);
  return { ...received, file };
}

function secondsOf(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** Expects every frame from the one at the clip's start, and the matching audio. */
async function expectMp4(page: string, start: string, end: string): Promise<void> {
  const { file, headers } = await clip(page, 'mp4', { start, end });
  const [from, to] = [secondsOf(start), Math.min(seconds, secondsOf(end))];
  const first = Math.floor(from * fps + 0.001);
  const numbers = await frameNumbers(file);
  const frames = Math.ceil(to * fps - 0.001) - first;
  expect(numbers.slice(0, frames)).toEqual(Array.from({ length: frames }, (_, index) => first + index));
  // Copied frames may need later ones.
  expect(numbers.length - frames).toBeLessThanOrEqual(2);
  const { streams, format } = await inspect(file);
  for (const { duration } of [...streams, format])
    expect(Math.abs((duration ?? 0) - (to - from))).toBeLessThan(0.2);
  expect(headers['accept-ranges']).toBe('none');
  expect(Math.abs(Number(headers['x-content-duration']) - (to - from))).toBeLessThan(0.1);
  expect(headers['content-length']).toBeUndefined();
  if (streams.length === 1) return;
  const position = findIn(original, await samplesOf(file), from * sampleRate);
  expect(Math.abs(position - from * sampleRate)).toBeLessThan(0.03 * sampleRate);
}

const sources = [
  '/media/numbered.mp4',
  '/media/numbered-end.mp4',
  '/media/numbered.mkv',
  '/media/numbered.ts',
  '/media/numbered.webm',
  '/media/numbered-video.mp4',
  '/media/hls-numbered/index.m3u8',
  '/media/hls-numbered-fmp4/index.m3u8',
  '/media/dash-numbered/manifest.mpd',
  '/indexed.mpd',
];

/** A clip from a key frame is the easier one: `npm test` tries it with a file and a playlist. */
const keyFrameSources =
  process.env['TEST_NIGHTLY'] === '1'
    ? sources
    : sources.filter((page) => /numbered\.mp4|index\.m3u8/u.test(page));

describe('an MP4 clip starts with the exact frame', () => {
  it.each(keyFrameSources)('of %s, if that is a key frame', async (page) => {
    await expectMp4(page, '6', '8.5');
  });

  it.each(sources)('of %s, between two frames', async (page) => {
    await expectMp4(page, '7.25', '0:00:08.75');
  });

  it.each([
    ['/media/numbered.mp4', '0', '1.5'],
    ['/media/numbered.ts', '18.6', '99'],
    ['/media/hls-numbered/index.m3u8', '0', '1.5'],
    ['/media/hls-numbered/index.m3u8', '18.6', '20'],
    ['/media/dash-numbered/manifest.mpd', '19', '99'],
  ])('of %s from %s to %s', async (page, start, end) => {
    await expectMp4(page, start, end);
  });
});

it('starts with the exact frame of a file whose beginning an edit list hides', async () => {
  const hiddenFrames = 30;
  const { file } = await clip('/media/numbered-trimmed.mp4', 'mp4', { start: '5.2', end: '6' });
  const numbers = await frameNumbers(file);
  expect(numbers.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => hiddenFrames + 130 + index));
});

it('cuts the requested video of a page with several', async () => {
  const { file } = await clip('/two-videos', 'mp4', { item: '2', start: '1', end: '2' });
  const { streams } = await inspect(file);
  expect(streams[0]).toMatchObject({ width: 360, height: 640, nb_read_frames: fps });
});

it('passes the file through if the clip is the whole video', async () => {
  const { file } = await clip('/media/numbered.mp4', 'mp4', { start: '0', end: '20' });
  expect((await readFile(file)).equals(await readFile(await media('numbered.mp4')))).toBe(true);
});

/** The MP3 encoder's delay is 1105 samples. The delay in a container without edit lists can't be distinguished from audio. */
const mp3FrameSamples = 1152;

describe('an MP3 clip is exact', () => {
  it.each([
    ...sources.filter((page) => !page.includes('video')).map((page) => [page, '7.2345', '9']),
    ['/media/numbered-audio.m4a', '7.2345', '9'],
    ['/media/numbered-audio.mp3', '7.2345', '9'],
    ['/media/numbered-audio.ogg', '7.2345', '9'],
    ['/media/numbered-audio.flac', '18.6', '99'],
    ['/media/hls-numbered/index.m3u8', '6', '8'],
    ['/media/hls-numbered/index.m3u8', '18.6', '20'],
  ])('of %s from %s to %s', async (page, start = '', end = '') => {
    const { file, body, headers } = await clip(page, 'mp3', { start, end });
    const [from, to] = [secondsOf(start), Math.min(seconds, secondsOf(end))];
    const samples = await samplesOf(file);
    expect(Math.abs(samples.length / sampleRate - (to - from))).toBeLessThan(0.1);
    const position = findIn(original, samples, from * sampleRate);
    expect(Math.abs(position - from * sampleRate)).toBeLessThanOrEqual(mp3FrameSamples);
    const { 'content-length': exact } = headers;
    if (exact === undefined) expect(headers['accept-ranges']).toBe('none');
    else expect(body.length).toBe(Number(exact));
  });
});

it('resumes an MP3 clip of known size', async () => {
  const query = { start: '3', end: '6' };
  const whole = await clip('/media/numbered-audio.m4a', 'mp3', query);
  expect(whole.headers).toMatchObject({
    'accept-ranges': 'bytes',
    'content-length': String(whole.body.length),
  });
  const search = new URLSearchParams({ url: `${site.url}/media/numbered-audio.m4a`, ...query }).toString();
  const rest = await receive(`${service.url}/api/stream?${search}`, {
    headers: { range: 'bytes=20000-', 'if-range': whole.headers.etag ?? '' },
  });
  expect(rest.status).toBe(206);
  expect(rest.body.equals(whole.body.subarray(20_000))).toBe(true);
});

describe('a clip reads only what it needs', () => {
  it('of a file', async () => {
    const file = await readFile(await media('numbered-end.mp4'));
    let bytes = 0;
    // Slow enough for the reader to leave in time, because bytes buffered on a connection count too.
    site.on('/paced.mp4', async (req, res) => {
      const start = Number(/^bytes=(\d+)-/u.exec(req.headers.range ?? '')?.[1] ?? 0);
      const end = Number(/-(\d+)$/u.exec(req.headers.range ?? '')?.[1] ?? file.length - 1);
      const last = Math.min(end, file.length - 1);
      res.writeHead(206, {
        'content-type': 'video/mp4',
        'content-length': last - start + 1,
        'content-range': `bytes ${start}-${last}/${file.length}`,
      });
      for (let at = start; at <= last && !res.destroyed; at += 32_768) {
        const piece = file.subarray(at, Math.min(last + 1, at + 32_768));
        bytes += piece.length;
        res.write(piece);
        await delay(10);
      }
      res.end();
    });
    await clip('/paced.mp4', 'mp3', { start: '10', end: '10.5' });
    expect(bytes).toBeLessThan(0.5 * file.length);
  });

  it.each([
    ['/media/hls-numbered/', 'index.m3u8', 10],
    ['/media/dash-numbered/', 'manifest.mpd', 20],
  ])('of the segments under %s', async (path, manifest, segments) => {
    sent.clear();
    await clip(`${path}${manifest}`, 'mp4', { start: '12.5', end: '13.5' });
    const read = [...sent.keys()].filter((name) => name.startsWith(path) && /\d\.(?:ts|m4s)$/u.test(name));
    // For each track, the first segment, which contains the start time, and the one with the clip.
    expect(read.length).toBeLessThanOrEqual(segments / 5 + 2);
  });
});

it('seeks to the clip in a DASH track that is one file', async () => {
  const name = 'numbered-indexed-video.mp4';
  const { length } = await readFile(await media(name));
  const before = site.requests.length;
  await clip('/indexed.mpd', 'mp4', { start: '14.5', end: '15.5' });
  const starts = site.requests
    .slice(before)
    .filter(({ path }) => path === `/media/${name}`)
    .map(({ headers }) => Number(/^bytes=(\d+)-/u.exec(headers.range ?? '')?.[1] ?? 0) / length);
  expect(starts.some((share) => share > 0.6 && share < 0.8)).toBe(true);
});

describe('a clip of a broken source', () => {
  const page = '/broken.m3u8';

  beforeAll(() => {
    site.on(page, async (_req, res) => {
      const list = await (await fetch(`${site.url}/media/hls-numbered/index.m3u8`)).text();
      const broken = list.replaceAll(/^index(\d+)\.ts$/gmu, (name, number) =>
        number === '5' ? `/media/hls-numbered/${name}?broken` : `/media/hls-numbered/${name}`,
      );
      res.setHeader('content-type', 'application/vnd.apple.mpegurl').end(broken);
    });
  });

  it.each(['mp3', 'mp4'] as const)(
    'is reset, or refused, where it needs the broken part (%s)',
    async (kind) => {
      const received = await request(page, kind, { start: '8.5', end: '11' });
      expect(received.status === 200 && received.complete).toBe(false);
    },
  );

  it('is complete if it does not need the broken part', async () => {
    await expectMp4(page, '4.5', '5.5');
  });
});
