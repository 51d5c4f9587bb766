import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { media, startSite, type Site } from '@media-services/fault-site';
import type { Browser } from 'playwright-core';
import { launchBrowser, visit } from './support/browser.js';
import { newClient, type Client } from './support/client.js';
import { stack } from './support/stack.js';

const name = 'numbered.mp4';
const fps = 25;
const sampleRate = 44_100;

let site: Site;
let folder: string;
let client: Client;

beforeAll(async () => {
  await media(name);
  site = await startSite({ host: stack.ownSiteAddress });
  folder = await mkdtemp(join(tmpdir(), 'media-services-clips-'));
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  client = await newClient();
});

afterEach(async () => {
  await client[Symbol.asyncDispose]();
});

async function decode(file: string, ...output: string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)('ffmpeg', ['-v', 'error', '-i', file, ...output, '-'], {
    encoding: 'buffer',
    maxBuffer: 64 * 1024 ** 2,
  });
  return stdout;
}

/** Sixteen squares at the top of each frame are the bits of its number. */
async function frameNumbers(file: string): Promise<number[]> {
  const squares = 'crop=320:12:0:4,scale=16:1:flags=area,format=gray';
  const levels = await decode(file, '-map', '0:v:0', '-vf', squares, '-vsync', '0', '-f', 'rawvideo');
  return Array.from({ length: levels.length / 16 }, (_, frame) =>
    levels
      .subarray(frame * 16, frame * 16 + 16)
      .reduce((number, level, bit) => number + (level > 128 ? 2 ** bit : 0), 0),
  );
}

async function audioSeconds(file: string): Promise<number> {
  const samples = await decode(file, '-map', '0:a:0', '-ac', '1', '-ar', String(sampleRate), '-f', 's16le');
  return samples.length / 2 / sampleRate;
}

type Query = Readonly<Record<string, string>>;

const path = (endpoint: string, query: Query, page = `/media/${name}`) =>
  `${endpoint}?${new URLSearchParams({ url: site.url + page, ...query }).toString()}`;

async function download(endpoint: string, query: Query, page?: string) {
  const response = await fetch(client.url + path(endpoint, query, page));
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${response.status}: ${body.toString()}`);
  const file = join(folder, endpoint.endsWith('video') ? 'clip.mp4' : 'clip.mp3');
  await writeFile(file, body);
  return { file, body, headers: response.headers };
}

describe('a clip through the gateway', () => {
  it.each([
    ['7.25', '0:00:08.75', 7.25, 1.5],
    ['0', '1.5', 0, 1.5],
    ['0.04', '1', 0.04, 0.96],
    ['0:18.6', '99', 18.6, 1.4],
  ] as const)('from %s to %s has its frames and samples', async (start, end, from, seconds) => {
    const video = await download('/api/stream/video', { start, end });
    const numbers = await frameNumbers(video.file);
    const first = Math.floor(from * fps + 0.001);
    const frames = Math.ceil((from + seconds) * fps - 0.001) - first;
    expect(numbers.slice(0, frames)).toEqual(Array.from({ length: frames }, (_, index) => first + index));
    expect(numbers.length - frames).toBeLessThanOrEqual(2);
    // Its length is known only at its end, so it can't be resumed.
    expect(video.headers.get('accept-ranges')).toBe('none');
    expect(['etag', 'last-modified', 'content-length'].map((header) => video.headers.get(header))).toEqual([
      null,
      null,
      null,
    ]);
    const audio = await download('/api/stream', { start, end });
    expect(Math.abs((await audioSeconds(audio.file)) - seconds)).toBeLessThan(0.1);
    expect(Number(audio.headers.get('x-content-duration'))).toBeCloseTo(seconds, 2);
  });

  it("that is the whole video is the site's own file", async () => {
    const { body } = await download('/api/stream/video', { start: '0', end: '99' });
    expect(body.equals(await readFile(await media(name)))).toBe(true);
  });

  it.each([
    [{ start: '20' }, ['start']],
    [{ start: '99', end: '100' }, ['start']],
    [{ start: '5', end: '5' }, ['end']],
    [{ start: '5', end: '4' }, ['end']],
    [{ start: '-1', end: '1:99' }, ['start', 'end']],
    [{ start: 'NaN', end: '', item: '0' }, ['item', 'start', 'end']],
  ])('of %j is rejected by all endpoints, naming %j', async (query, fields) => {
    for (const endpoint of ['/api/info', '/api/stream', '/api/stream/video']) {
      const response = await fetch(client.url + path(endpoint, query));
      const problem = (await response.json()) as { code: string; errors: { field: string }[] };
      expect([response.status, problem.code]).toEqual([400, 'invalid_request']);
      expect(problem.errors.map(({ field }) => field).sort()).toEqual([...fields].sort());
    }
  });
});

/** Codec and height of each track. */
async function tracksOf(file: string): Promise<string> {
  const entries = 'stream=codec_name,height';
  const { stdout } = await promisify(execFile)('ffprobe', [
    ...['-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', file],
  ]);
  return stdout.trim().replaceAll('\n', ' ');
}

describe('item through the gateway', () => {
  it.each([
    ['2', 'h264,640 aac'],
    ['1', 'h264,360 aac'],
  ] as const)('%s is that video of the page', async (item, tracks) => {
    const { file } = await download('/api/stream/video', { item }, '/two-videos');
    expect(await tracksOf(file)).toBe(tracks);
    const { file: audio } = await download('/api/stream', { item }, '/two-videos');
    expect(Math.abs((await audioSeconds(audio)) - 4)).toBeLessThan(0.1);
  });

  it.each(['3', '1000', '1001', '1.5'])('%s is rejected by all endpoints', async (item) => {
    for (const endpoint of ['/api/info', '/api/stream', '/api/stream/video']) {
      const response = await fetch(client.url + path(endpoint, { item }, '/two-videos'));
      const problem = (await response.json()) as { code: string; errors: { field: string }[] };
      expect([response.status, problem.code]).toEqual([400, 'invalid_request']);
      expect(problem.errors.map(({ field }) => field)).toEqual(['item']);
    }
  });
});

describe('fmt=original through the gateway', () => {
  it.each(['sound.m4a', 'sound.ogg', 'sound.flac'])(
    "is the site's own file, in parts too: %s",
    async (file) => {
      const page = `/media/${file}`;
      const { body, headers } = await download('/api/stream', { fmt: 'original' }, page);
      const source = await readFile(await media(file));
      expect(body.equals(source)).toBe(true);
      const part = await fetch(client.url + path('/api/stream', { fmt: 'original' }, page), {
        headers: { Range: 'bytes=1000-1999', 'If-Range': headers.get('etag') ?? '' },
      });
      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer()).equals(source.subarray(1000, 2000))).toBe(true);
    },
  );

  it.each([
    ['h264.mkv', 'aac'],
    ['vp9.webm', 'opus'],
  ] as const)('is the audio of %s, copied', async (media, codec) => {
    const { file } = await download('/api/stream', { fmt: 'original' }, `/media/${media}`);
    expect(await tracksOf(file)).toBe(codec);
    expect(Math.abs((await audioSeconds(file)) - 4)).toBeLessThan(0.1);
  });

  it.each([
    ['/api/stream', { fmt: 'ORIGINAL' }],
    ['/api/stream', { fmt: '' }],
    ['/api/stream', { fmt: 'original', start: '1' }],
    ['/api/stream/video', { fmt: 'original' }],
  ])('%s rejects %j', async (endpoint, query) => {
    const response = await fetch(client.url + path(endpoint, query));
    const problem = (await response.json()) as { code: string; errors: { field: string }[] };
    expect([response.status, problem.code]).toEqual([400, 'invalid_request']);
    expect(problem.errors.map(({ field }) => field)).toEqual(['fmt']);
  });
});

describe('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  it('the first frame shown of a clip is the one at its start', async () => {
    await using reader = await visit(browser);
    const firstFrame = (start: string) =>
      reader.page.evaluate(
        async (source) => {
          const video = document.createElement('video');
          video.muted = true;
          video.preload = 'auto';
          video.src = source;
          await new Promise<void>((resolve, reject) => {
            video.onloadeddata = () => resolve();
            video.onerror = () => reject(new Error(video.error?.message ?? 'the video cannot be played'));
          });
          const canvas = document.createElement('canvas');
          canvas.width = 320;
          canvas.height = 180;
          const context = canvas.getContext('2d');
          if (context === null) throw new Error('no canvas');
          context.drawImage(video, 0, 0);
          // Sixteen squares at the top are the bits of the frame's number.
          return Array.from(
            { length: 16 },
            (_, bit) => context.getImageData(bit * 20 + 10, 10, 1, 1).data[0] ?? 0,
          )
            .map((level, bit) => (level > 128 ? 2 ** bit : 0))
            .reduce((sum, value) => sum + value, 0);
        },
        path('/api/stream/video', { start, end: '9' }),
      );
    // A key frame, which is copied; between two, which is encoded.
    expect(await firstFrame('6')).toBe(150);
    expect(await firstFrame('7.25')).toBe(181);
  });
});
