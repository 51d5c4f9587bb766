import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Site, startSite } from '@media-services/fault-site';
import { locateMediaTools } from '../../src/ffmpeg/tools.js';
import { startService, type TestService } from '../support/service.js';
import { otherBuilds } from '../support/media-tools.js';
import { receive } from '../deliver/support/receive.js';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { inspect } from './support/inspect.js';

/** Versions differ in the options that they accept, and in what they make of an input. `npm test -- --nightly` runs every suite with each. */

let site: Site;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-versions-'));
  site = await startSite();
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('set-up has installed other versions of ffmpeg', () => {
  expect(otherBuilds().length).toBeGreaterThan(0);
});

describe.each(otherBuilds())('with the $build ffmpeg', ({ ffmpeg }) => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host, FFMPEG_PATH: ffmpeg });
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  it('health names it', async () => {
    const health = await (await service.get('/api/health')).json();
    const { version } = await locateMediaTools({ ffmpegPath: ffmpeg });
    expect(health).toMatchObject({ checks: { muxingEngine: { status: 'ok', version } } });
  });

  it.each([
    ['HLS of transport streams', 'stream/video', 'hls-ts/index.m3u8', 4, ['h264', 'aac']],
    ['a frame every two seconds', 'stream/video', 'hls-slides/index.m3u8', 8, ['h264', 'aac']],
    ['separate audio in transport streams', 'stream/video', 'hls-master/index.m3u8', 4, ['h264', 'aac']],
    ['only audio in transport streams', 'stream/video', 'hls-audio/index.m3u8', 4, '422'],
    ['only audio in transport streams', 'stream', 'hls-audio/index.m3u8', 4, ['mp3']],
    ['a clip that is encoded', 'stream/video?start=1.3&end=3', 'front.mp4', 1.7, ['h264', 'aac']],
    ...atNight([
      ['HLS of fMP4', 'stream', 'hls-fmp4/index.m3u8', 4, ['mp3']],
      ['DASH', 'stream/video', 'dash-template/manifest.mpd', 4, ['h264', 'aac']],
      ['Matroska', 'stream/video', 'h264.mkv', 4, ['h264', 'aac']],
      ['VP8, which is encoded', 'stream/video', 'vp8.webm', 4, ['h264', 'aac']],
      ['original audio in fragments', 'stream?fmt=original', 'hls-fmp4/index.m3u8', 4, ['aac']],
      ['Opus', 'stream?fmt=original', 'vp9.webm', 4, ['opus']],
    ] as const),
  ] as const)('%s: %s of %s', async (_, path, media, seconds, expected) => {
    const url = encodeURIComponent(`${site.url}/media/${media}`);
    const received = await receive(`${service.url}/api/${path}${path.includes('?') ? '&' : '?'}url=${url}`);
    if (expected === '422') {
      expect(received.status).toBe(422);
      return;
    }
    expect(received).toMatchObject({ status: 200, complete: true });
    const file = join(folder, 'output');
    await writeFile(file, received.body);
    const { streams } = await inspect(file);
    expect(streams.map(({ codec_name: codec }) => codec)).toEqual(expected);
    for (const { duration, level = 0 } of streams) {
      expect(Math.abs((duration ?? 0) - seconds)).toBeLessThan(0.15);
      // H.264's level 4.2: what most televisions and phones decode.
      expect(level).toBeLessThanOrEqual(42);
    }
  });
});
