import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { media, sendFile, startSite, type Site } from '@media-services/fault-site';
import { execa } from 'execa';
import { readBoxHeader } from '../../src/formats/mp4/box.js';
import { inspect } from '../media/support/inspect.js';
import { frameNumbers } from '../media/support/numbered.js';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService, type TestService } from '../support/service.js';
import { receive, type Received } from './support/receive.js';

const fps = 25;
const seconds = 20;
const sampleRate = 44_100;

let site: Site;
let service: TestService;
let folder: string;
let original: Float32Array;
/** Parts of a file, each with its start and end as shares of the file's length. */
type Parts = readonly (readonly [number, number])[];

/** While a test counts bytes: the only parts of each file that the site sends, and the blocks it sent. */
let counter: { readonly parts: Parts; readonly sent: Set<string> } | null = null;
const blockBytes = 1024;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-clips-'));
  site = await startSite({
    intercept: async (req, res, { url, path, type }) => {
      if (url.searchParams.has('broken')) {
        res.writeHead(404).end();
        return true;
      }
      await (counter === null ? sendFile(req, res, path, type) : sendParts(req, res, path));
      return true;
    },
  });
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host }, { engineScript: fixtureEngine });
  site.on('/indexed.mpd', async (_req, res) => sendManifest(res, () => '<SegmentBase/>'));
  site.on('/ranges.mpd', async (_req, res) => sendManifest(res, segmentList));
  original = await samplesOf(await media('numbered-audio.flac'));
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Sends what was requested up to the end of a part, then waits for the client to leave. Counting what
 * a client requests would count bytes that it never reads from the connection.
 */
async function sendParts(req: IncomingMessage, res: ServerResponse, path: string): Promise<void> {
  const file = await readFile(path);
  const { length } = file;
  const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '') ?? [];
  const [start, end] = [Number(from), Math.min(to === '' ? Infinity : Number(to) + 1, length)];
  res.writeHead(206, {
    'content-length': end - start,
    'content-range': `bytes ${start}-${end - 1}/${length}`,
    etag: `"${path}"`,
  });
  const part = counter?.parts.find((each) => each[0] * length <= start && start < each[1] * length);
  const stop = Math.min(end, Math.ceil((part?.[1] ?? 0) * length));
  for (let at = start; at < stop; at += blockBytes)
    counter?.sent.add(`${path} ${Math.floor(at / blockBytes)}`);
  if (start < stop) res.write(file.subarray(start, stop));
  else res.flushHeaders();
  if (stop < end) await once(res, 'close');
  else res.end();
}

const kinds = {
  video: 'bandwidth="800000" width="320" height="180" codecs="avc1.64000d"',
  audio: 'bandwidth="96000" codecs="mp4a.40.2"',
};

/** A manifest with a file for each track, as YouTube has them. */
async function sendManifest(
  res: ServerResponse,
  segmentsOf: (file: string) => string | Promise<string>,
): Promise<void> {
  const sets = Object.entries(kinds).map(async ([kind, attributes]) => {
    const name = `numbered-indexed-${kind}.mp4`;
    return `<AdaptationSet mimeType="${kind}/mp4"><Representation id="${kind}" ${attributes}><BaseURL>/media/${name}</BaseURL>${await segmentsOf(name)}</Representation></AdaptationSet>`;
  });
  const period = (await Promise.all(sets)).join('');
  const manifest = `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT20S"><Period>${period}</Period></MPD>`;
  res.writeHead(200, { 'content-type': 'application/dash+xml' }).end(manifest);
}

/** The fragments of a file, each of two seconds, as segments with byte ranges. */
async function segmentList(name: string): Promise<string> {
  const file = await readFile(await media(name));
  const segments: { start: number; end: number }[] = [];
  let headerEnd = 0;
  for (let at = 0; at < file.length;) {
    const { type, size } = readBoxHeader(file, at) ?? { type: '', size: Infinity };
    if (type === 'moov') headerEnd = at + size;
    if (type === 'moof') segments.push({ start: at, end: at });
    const last = segments.at(-1);
    if (type === 'mdat' && last !== undefined) last.end = at + size;
    at += size;
  }
  const urls = segments.map(({ start, end }) => `<SegmentURL mediaRange="${start}-${end - 1}"/>`);
  return `<SegmentList timescale="1" duration="2"><Initialization range="0-${headerEnd - 1}"/>${urls.join('')}</SegmentList>`;
}

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

afterEach(() => {
  counter = null;
});

it.each([
  ['numbered.ts', 'mp4', 400, 'start must be before the end of the video, which is 20.023 s long.'],
  ['numbered.ts', 'mp3', 400, 'start must be before the end of the video, which is 20.023 s long.'],
  ['sound.mp3', 'mp3', 400, 'start must be before the end of the video, which is 4.049 s long.'],
  ['sound.aac', 'mp3', 422, 'The video ends before this part. Choose an earlier `start`.'],
] as const)(
  'rejects a clip that starts after the end of %s as %s, if only the page states a length',
  async (file, kind, status, detail) => {
    const page = `/json-ld?duration=PT1H&media=${file}`;
    const { status: seen, body } = await request(page, kind, { start: '1800', end: '1810' });
    expect({ status: seen, ...JSON.parse(body.toString()) }).toMatchObject({ status, detail });
  },
);

/** Makes the site send only the parts that a clip needs, and count them. */
function countBytes({ files, parts }: Source): { expectFew(): Promise<void> } {
  const { sent } = (counter = { parts, sent: new Set<string>() });
  return {
    expectFew: async () => {
      const sizes = await Promise.all(files.map(async (name) => bytesOf(await media(name))));
      const totalBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
      expect(sent.size * blockBytes).toBeLessThan(0.5 * totalBytes);
    },
  };
}

/** Bytes of a file or of the files in a folder. */
async function bytesOf(path: string): Promise<number> {
  const info = await stat(path);
  if (info.isFile()) return info.size;
  const files = (await readdir(path)).map(async (file) => bytesOf(join(path, file)));
  return (await Promise.all(files)).reduce((sum, bytes) => sum + bytes, 0);
}

function secondsOf(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
}

/** Files of the MP4 family with an index of their samples. */
const windows = ['/media/numbered.mp4', '/media/numbered-end.mp4', '/media/numbered-video.mp4'];

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
  // From a key frame, it needs no encoder, so all of its bytes are known.
  const isRemuxed = from % 2 === 0 && windows.includes(page);
  expect(headers['accept-ranges']).toBe(isRemuxed ? 'bytes' : 'none');
  expect(Math.abs(Number(headers['x-content-duration']) - (to - from))).toBeLessThan(0.1);
  expect(headers['content-length'] !== undefined).toBe(isRemuxed);
  if (streams.length === 1) return;
  const position = findIn(original, await samplesOf(file), from * sampleRate);
  expect(Math.abs(position - from * sampleRate)).toBeLessThan(0.03 * sampleRate);
}

interface Source {
  /** Its files or the folder with them. */
  readonly files: readonly string[];
  readonly parts: Parts;
}

/** For a clip from 14.5 to 15.5 of 20 s: the header, the fragments or groups of pictures from 12 to 17 s, an index at the end. */
const neededParts: Parts = [
  [0, 0.2],
  [0.6, 0.85],
  [0.97, 1],
];
/** Segments are requested whole, and the first one tells when the video starts. */
const wholeFiles: Parts = [[0, 1]];

const indexed = ['numbered-indexed-video.mp4', 'numbered-indexed-audio.mp4'];

/** Null for a source that is read from its beginning, and for one with rare key frames. */
const sources: Readonly<Record<string, Source | null>> = {
  '/media/numbered.mp4': { files: ['numbered.mp4'], parts: neededParts },
  '/media/numbered-end.mp4': { files: ['numbered-end.mp4'], parts: neededParts },
  '/media/numbered.mkv': { files: ['numbered.mkv'], parts: neededParts },
  '/media/numbered.ts': null,
  '/media/numbered.webm': null,
  '/media/numbered-video.mp4': { files: ['numbered-video.mp4'], parts: neededParts },
  '/media/hls-numbered/index.m3u8': { files: ['hls-numbered'], parts: wholeFiles },
  '/media/hls-numbered-fmp4/index.m3u8': { files: ['hls-numbered-fmp4'], parts: wholeFiles },
  '/media/dash-numbered/manifest.mpd': { files: ['dash-numbered'], parts: wholeFiles },
  '/indexed.mpd': { files: indexed, parts: neededParts },
  '/ranges.mpd': { files: indexed, parts: wholeFiles },
};
const pages = Object.keys(sources);
/** A file with an index at its beginning, and segments. */
const dayPages = ['/media/numbered.mp4', '/media/hls-numbered/index.m3u8'];
const nightPages = atNight(pages.filter((page) => !dayPages.includes(page)));

describe('an MP4 clip starts with the exact frame', () => {
  it.each(['/media/numbered.mp4', ...atNight(pages.slice(1))])(
    'of %s, if that is a key frame',
    async (page) => {
      await expectMp4(page, '6', '8.5');
    },
  );

  it.each([...dayPages, ...nightPages])('of %s, between two frames, from few bytes', async (page) => {
    const source = sources[page];
    // The extraction looks at the media too.
    await service.info(`${site.url}${page}`);
    const count = source && countBytes(source);
    await expectMp4(page, '14.5', '0:00:15.5');
    await count?.expectFew();
  });

  it.each([
    ['/media/hls-numbered/index.m3u8', '0', '1.5'],
    ...atNight([
      ['/media/numbered.ts', '18.6', '99'],
      ['/media/numbered.mp4', '0', '1.5'],
      ['/media/hls-numbered/index.m3u8', '18.6', '20'],
      ['/media/dash-numbered/manifest.mpd', '19', '99'],
    ]),
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

describe('an MP4 clip of slides starts with the one on screen and has its length', () => {
  it.each([
    ['/media/numbered-slides.mp4', '0.5', '5', [...Array.from({ length: 13 }, (_, index) => 12 + index), 24]],
    ...atNight<[string, string, string, number[]]>([
      ['/media/numbered-slides.ts', '5.5', '7', [24, 150, 150]],
      // After the last slide there is no frame.
      ['/media/numbered-slides.mp4', '14.5', '16', [300]],
      ['/media/numbered-slides.mp4', '2.5', '5', [24, 24]],
    ]),
  ])('%s from %s to %s', async (page, start, end, frames) => {
    const { file } = await clip(page, 'mp4', { start, end });
    expect(await frameNumbers(file)).toEqual(frames);
    const { streams } = await inspect(file);
    const lengths = streams.map(({ duration }) => Math.round((duration ?? 0) * 10) / 10);
    expect(lengths).toEqual([Number(end) - Number(start), Number(end) - Number(start)]);
  });
});

it('has no audio track where a video has no audio', async () => {
  const { file } = await clip('/media/numbered-short-audio.mp4', 'mp4', { start: '14.2', end: '15.2' });
  const { streams } = await inspect(file);
  expect(streams).toHaveLength(1);
  expect(streams[0]).toMatchObject({ codec_type: 'video', nb_read_frames: fps });
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
    ...dayPages.map((page) => [page, '7.2345', '9']),
    ['/media/numbered-audio.mp3', '7.2345', '9'],
    ...nightPages.filter((page) => !page.includes('video')).map((page) => [page, '7.2345', '9']),
    ...atNight([
      ['/media/numbered-audio.flac', '18.6', '99'],
      ['/media/numbered-audio.m4a', '7.2345', '9'],
      ['/media/numbered-audio.ogg', '7.2345', '9'],
      ['/media/hls-numbered/index.m3u8', '6', '8'],
      ['/media/hls-numbered/index.m3u8', '18.6', '20'],
    ]),
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

describe('a clip whose every byte is known', () => {
  it.each([
    ['MP4', '/api/stream/video', '/media/numbered.mp4', '6', 'video/mp4'],
    ['M4A', '/api/stream', '/media/numbered-audio.m4a', '7.2345', 'audio/mp4'],
  ])('resumes as %s', async (_kind, path, page, start, type) => {
    const format: Query = type === 'audio/mp4' ? { fmt: 'original' } : {};
    const query = new URLSearchParams({ url: `${site.url}${page}`, start, end: '9', ...format });
    const url = `${service.url}${path}?${query.toString()}`;
    const whole = await receive(url);
    expect(whole).toMatchObject({ status: 200, complete: true });
    expect(whole.headers).toMatchObject({
      'content-type': type,
      'accept-ranges': 'bytes',
      'content-length': String(whole.body.length),
      'x-content-duration': String(Math.round((9 - Number(start)) * 1e4) / 1e4),
    });
    const { headers } = await receive(url, { method: 'HEAD' });
    expect(headers).toMatchObject({ 'content-length': String(whole.body.length), etag: whole.headers.etag });
    const rest = await receive(url, {
      headers: { range: 'bytes=20000-', 'if-range': whole.headers.etag ?? '' },
    });
    expect(rest.status).toBe(206);
    expect(rest.body.equals(whole.body.subarray(20_000))).toBe(true);
    const file = join(folder, 'known.mp4');
    await writeFile(file, whole.body);
    const position = findIn(original, await samplesOf(file), Number(start) * sampleRate);
    expect(Math.abs(position - Number(start) * sampleRate)).toBeLessThan(1200);
  });
});

it('an MP3 clip of a file with audio only reads few bytes', async () => {
  const name = 'numbered-alac.m4a';
  const count = countBytes({ files: [name], parts: neededParts });
  await clip(`/media/${name}`, 'mp3', { start: '14.5', end: '15.5' });
  await count.expectFew();
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
      // The site has lost that part.
      expect([404, 'reset']).toContain(
        received.status === 200 && !received.complete ? 'reset' : received.status,
      );
    },
  );

  it('is complete if it does not need the broken part', async () => {
    await expectMp4(page, '4.5', '5.5');
  });
});

/** Decodes a file's audio to one channel. */
async function samplesOf(file: string): Promise<Float32Array> {
  const { stdout } = await execa(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-map', '0:a:0', '-ac', '1', '-ar', String(sampleRate), '-f', 'f32le', '-'],
    { encoding: 'buffer' },
  );
  return new Float32Array(Uint8Array.from(stdout).buffer);
}

/** Start of the clip's audio in the original, in samples: the best match near `expected`. */
function findIn(original: Float32Array, clip: Float32Array, expected: number): number {
  const from = 8192;
  const length = 2048;
  let best = { position: NaN, score: -Infinity };
  for (let shift = -6000; shift <= 6000; shift += 1) {
    const start = Math.round(expected) + from + shift;
    if (start < 0 || start + length > original.length) continue;
    let score = 0;
    for (let index = 0; index < length; index += 1)
      score += (clip[from + index] ?? 0) * (original[start + index] ?? 0);
    if (score > best.score) best = { position: start - from, score };
  }
  return best.position;
}
