import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { inspect } from '../media/support/inspect.js';
import type { Inspection } from '../media/support/inspect.js';
import { made, recipes, type Site, startSite } from '@media-services/fault-site';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { fixtureEngine } from '../support/pythons.js';
import { startService } from '../support/service.js';
import type { TestService } from '../support/service.js';
import { receive } from './support/receive.js';
import type { Received } from './support/receive.js';

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-sources-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host }, { engineScript: fixtureEngine });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Stream extends Received {
  media: Inspection;
}

async function stream(page: string, target: 'mp3' | 'mp4-720' | 'mp4-1080', from = service): Promise<Stream> {
  const url = encodeURIComponent(`${site.url}${page}`);
  const path = target === 'mp3' ? `/api/stream?url=${url}` : `/api/stream/video?url=${url}&fmt=${target}`;
  const received = await receive(`${from.url}${path}`);
  if (received.status !== 200) throw new Error(`${received.status}: ${received.body.toString()}`);
  const file = join(folder, `output.${target.slice(0, 3)}`);
  await writeFile(file, received.body);
  return { ...received, media: await inspect(file) };
}

const framesPerSecond = 25;
const seconds = 4;

interface Expected {
  video?: 'h264' | 'hevc' | 'vp9';
  height?: number;
  audio?: 'aac' | null;
}

describe('an MP4', () => {
  it.each<[string, Expected]>([
    ['/watch', {}],
    ['/media/silent.mp4', { audio: null }],
    ['/media/vp9.webm', { video: 'vp9' }],
    ['/media/hls-master/index.m3u8', { height: 720 }],
    ['/media/dash-template/manifest.mpd', {}],
    ['/fixture/parts', { audio: null }],
    ...atNight<[string, Expected]>([
      ['/media/hls-fmp4/index.m3u8', {}],
      ['/media/hls-ts/index.m3u8', {}],
      ['/two-videos', {}],
      ['/media/hevc.mp4', { video: 'hevc' }],
      ['/media/end.mp4', {}],
      ['/media/h264.mkv', {}],
      ['/media/h264-opus.mp4', {}],
      ['/media/vp8.webm', {}],
      ['/json-ld', {}],
      ['/media/hls-aes/index.m3u8', {}],
      ['/media/hls-byteranges/index.m3u8', {}],
      ['/media/dash-ranges/manifest.mpd', {}],
      ['/watch?media=end.mp4', {}],
      ['/media/front.mp4', {}],
      ['/media/portrait.mp4', { height: 640 }],
      ['/open-graph', {}],
      ['/unicode-title', {}],
      ['/media/dash-timeline/manifest.mpd', {}],
      ['/media/dash-list/manifest.mpd', {}],
    ]),
  ])('of %s has every frame, in sync, and states its duration', async (page, expected) => {
    const { media, complete, headers } = await stream(page, 'mp4-720');
    expect(complete).toBe(true);
    const { video = 'h264', audio = 'aac', height } = expected;
    expect(media.streams.map(({ codec_name }) => codec_name)).toEqual(
      audio === null ? [video] : [video, audio],
    );
    const [picture, sound] = media.streams;
    expect(picture?.nb_read_frames).toBe(seconds * framesPerSecond);
    if (height !== undefined) expect(picture?.height).toBe(height);
    expect(Math.abs((media.format.duration ?? 0) - seconds)).toBeLessThan(0.15);
    if (sound) expect(Math.abs((picture?.start_time ?? NaN) - (sound.start_time ?? NaN))).toBeLessThan(0.06);
    if (sound) expect(Math.abs((sound.duration ?? 0) - seconds)).toBeLessThan(0.2);
    expect(Number(headers['x-content-duration'])).toBeCloseTo(seconds, 0);
  });

  it('has every period of a DASH manifest, even if they differ', async () => {
    const manifest = await (await fetch(`${site.url}/media/dash-template/manifest.mpd`)).text();
    const content = /<Period[^>]*>([\s\S]*)<\/Period>/u.exec(manifest)?.[1] ?? '';
    const period = (base: string) => `<Period duration="PT4S"><BaseURL>${base}</BaseURL>${content}</Period>`;
    const periods = period('/media/dash-template/') + period('/media/./dash-template/');
    const twice = manifest
      .replace(/mediaPresentationDuration="[^"]*"/u, 'mediaPresentationDuration="PT8S"')
      .replace(/<Period[\s\S]*<\/Period>/u, periods);
    site.on(
      '/twice.mpd',
      (_req, res) => void res.writeHead(200, { 'content-type': 'application/dash+xml' }).end(twice),
    );
    expect(await service.info(`${site.url}/twice.mpd`)).toMatchObject({ body: { duration: 2 * seconds } });
    const { complete, media } = await stream('/twice.mpd', 'mp4-720');
    expect(complete).toBe(true);
    expect(media.streams[0]?.nb_read_frames).toBe(2 * seconds * framesPerSecond);
  });

  it.each([
    ['a master playlist without codecs', 'hls-master/index.m3u8', /,CODECS="[^"]*"/gu, ''],
    ['a DASH manifest without codecs', 'dash-template/manifest.mpd', / codecs="[^"]*"/gu, ''],
    ...atNight([['a playlist after a byte order mark', 'hls-ts/index.m3u8', /^/gu, '\uFEFF']] as const),
  ] as const)('of %s has video and audio', async (what, path, pattern, replacement) => {
    const original = await fetch(`${site.url}/media/${path}`);
    const text = await original.text();
    const edited = text.replaceAll(pattern, replacement);
    expect(edited).not.toBe(text);
    const page = `/media/${path.replace('/', `/${what.replaceAll(' ', '-')}-`)}`;
    const type = original.headers.get('content-type') ?? '';
    site.on(page, (_req, res) => void res.writeHead(200, { 'content-type': type }).end(edited));
    const { media, complete } = await stream(page, 'mp4-720');
    expect(complete).toBe(true);
    expect(media.streams).toMatchObject([
      { nb_read_frames: seconds * framesPerSecond },
      { codec_name: 'aac' },
    ]);
    expect((await stream(page, 'mp3')).complete).toBe(true);
  });

  // An advertisement's clock; ffmpeg takes the jump for playing time.
  it('has all of a transport stream whose clock jumps', async () => {
    const { complete, media } = await stream('/media/jump.ts', 'mp4-720');
    expect(complete).toBe(true);
    expect(media.streams[0]?.nb_read_frames).toBe(seconds * framesPerSecond);
  });

  // A recording of a broadcast that refreshes its picture in strips.
  it('of HLS that begins between key frames has all frames from the first one on', async () => {
    const [dropped, refreshFrames] = [30, 60];
    const bytes = await readFile(
      await made('between-key-frames.ts', {
        args: [
          ...['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25:duration=6'],
          ...['-f', 'lavfi', '-i', 'sine=sample_rate=48000:duration=6', '-c:a', 'aac', '-c:v', 'libx264'],
          ...['-x264-params', `intra-refresh=1:keyint=${refreshFrames}`],
          ...['-bsf:v', `noise=drop='lt(n,${dropped})'`, 'between-key-frames.ts'],
        ],
      }),
    );
    site.on('/between/1.ts', (_req, res) => void res.end(bytes));
    const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n1.ts\n#EXT-X-ENDLIST\n';
    site.on('/between/index.m3u8', (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist);
    });
    const url = encodeURIComponent(`${site.url}/between/index.m3u8`);
    const { complete, body } = await receive(`${service.url}/api/stream/video?url=${url}&fmt=mp4-720`);
    expect(complete).toBe(true);
    const file = join(folder, 'between.mp4');
    await writeFile(file, body);
    // Frames can't be decoded without errors before a refresh is complete.
    const count = ['-v', 'quiet', '-count_packets', '-select_streams', 'v', '-show_entries'];
    const { stdout } = await execa('ffprobe', [...count, 'stream=nb_read_packets', '-of', 'csv=p=0', file]);
    expect(stdout).toBe(String(6 * framesPerSecond - refreshFrames));
  });

  it('has the requested size', async () => {
    expect((await stream('/media/hls-master/index.m3u8', 'mp4-1080')).media.streams[0]?.height).toBe(720);
    expect((await stream('/media/1080.mp4', 'mp4-1080')).media.streams[0]?.height).toBe(1080);
  });
});

describe('with MP4_VIDEO=h264', () => {
  let h264: TestService;

  beforeAll(async () => {
    h264 = await startService({ ALLOWED_PRIVATE_SOURCES: site.host, MP4_VIDEO: 'h264' });
  });

  afterAll(async () => h264[Symbol.asyncDispose]());

  const downloadsOf = async (from: TestService, page: string) =>
    (await from.info(`${site.url}${page}`)).body['downloads'];

  it.each([
    ['/media/vp9.webm', 'newer players'],
    ...atNight([
      ['/media/mpeg4.mp4', 'some players'],
      ['/media/hevc.mp4', 'newer players'],
    ]),
  ])('%s is converted to a format that plays everywhere', async (page, usually) => {
    const { complete, media } = await stream(page, 'mp4-720', h264);
    expect(complete).toBe(true);
    expect(media.streams).toMatchObject([
      { codec_name: 'h264', pix_fmt: 'yuv420p', nb_read_frames: seconds * framesPerSecond, height: 360 },
      { codec_name: 'aac' },
    ]);
    const mp3 = { target: 'mp3' };
    expect(await downloadsOf(h264, page)).toMatchObject([
      mp3,
      ...['mp4-720', 'mp4-1080'].map((target) => ({ target, video: 'transcode', plays: 'everywhere' })),
    ]);
    expect(await downloadsOf(service, page)).toMatchObject([
      mp3,
      ...['mp4-720', 'mp4-1080'].map((target) => ({ target, plays: usually })),
    ]);
  });

  it('H.264 is copied', async () => {
    const asItIs = { video: 'as is', plays: 'everywhere' };
    expect(await downloadsOf(h264, '/media/front.mp4')).toMatchObject([{}, asItIs, asItIs]);
  });

  it('encoded video has the requested size', async () => {
    const { media } = await stream('/media/1080-vp9.webm', 'mp4-720', h264);
    expect(media.streams[0]).toMatchObject({ width: 1280, height: 720 });
    expect(await downloadsOf(h264, '/media/1080-vp9.webm')).toMatchObject([
      {},
      { target: 'mp4-720', height: 720 },
      { target: 'mp4-1080', height: 1080 },
    ]);
  });
});

describe('an MP3', () => {
  it.each([
    '/watch',
    '/media/hls-ts/index.m3u8',
    ...atNight([
      '/media/vp9.webm',
      '/media/sound.ogg',
      '/media/dash-template/manifest.mpd',
      '/media/end.mp4',
      '/media/vp8.webm',
      '/media/h264.mkv',
      '/media/sound.m4a',
      '/media/hls-fmp4/index.m3u8',
      '/media/hls-aes/index.m3u8',
      '/media/hls-master/index.m3u8',
    ]),
  ])('of %s has all of the audio', async (page) => {
    const { media, complete, headers, body } = await stream(page, 'mp3');
    expect(complete).toBe(true);
    const [sound] = media.streams;
    expect(sound?.codec_name).toBe('mp3');
    expect(Math.abs((sound?.duration ?? 0) - seconds)).toBeLessThan(0.2);
    expect(media.format.tags?.TLEN).toMatch(/^(?:39|40|41)\d\d$/u);
    const { 'content-length': exact, 'estimated-content-length': estimate } = headers;
    if (exact !== undefined) expect(body.length).toBe(Number(exact));
    else expect(Math.abs(body.length - Number(estimate)) / body.length).toBeLessThan(0.05);
  });

  it('of segments omits the silence that their edit list hides', async () => {
    const folder = '/media/hls-8000';
    const text = async (name: string) => (await fetch(`${site.url}${folder}/${name}`)).text();
    const init = Buffer.from(await (await fetch(`${site.url}${folder}/init.mp4`)).arrayBuffer());
    // Like an encoder with a delay of 2048 samples.
    const at = init.indexOf('elst') + 16;
    init.writeInt32BE(2048, at);
    site.on('/delayed/init.mp4', (_req, res) => void res.end(init));
    const playlist = (await text('index.m3u8')).replaceAll(/^index/gmu, `${folder}/index`);
    site.on('/delayed/index.m3u8', (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(playlist);
    });
    const secondsOf = async (page: string) => {
      const { complete, media } = await stream(page, 'mp3');
      expect(complete).toBe(true);
      return media.streams[0]?.duration ?? 0;
    };
    const hidden = (await secondsOf(`${folder}/index.m3u8`)) - (await secondsOf('/delayed/index.m3u8'));
    expect(Math.abs(hidden - 2048 / 8000)).toBeLessThan(0.06);
  });

  it('has the cover of the page', async () => {
    const { media } = await stream('/open-graph', 'mp3');
    expect(media.streams[1]).toMatchObject({ codec_name: 'mjpeg', width: 320, height: 180 });
  });

  it('works without a cover if it is missing', async () => {
    const { media } = await stream('/broken-thumbnail', 'mp3');
    expect(media.streams).toHaveLength(1);
  });

  it('is rejected for a video without audio', async () => {
    const url = encodeURIComponent(`${site.url}/media/silent.mp4`);
    const { status, body } = await receive(`${service.url}/api/stream?url=${url}`);
    expect(status).toBe(422);
    expect(JSON.parse(body.toString())).toMatchObject({ code: 'no_media' });
  });
});

describe('the estimated length', () => {
  it.each(['/media/long.mkv', ...atNight(['/media/h264.mkv', '/media/h264-opus.mp4'])])(
    'of %s is within 5 %%',
    async (page) => {
      const { headers, body } = await stream(page, 'mp4-1080');
      expect(Math.abs(body.length - Number(headers['estimated-content-length'])) / body.length).toBeLessThan(
        0.05,
      );
    },
  );
});

it('uses media of the expected duration', () => {
  expect(recipes['front.mp4']?.durationSeconds).toBe(seconds);
});
