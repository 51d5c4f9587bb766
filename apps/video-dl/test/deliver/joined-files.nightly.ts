import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { made, media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { inspect } from '../media/support/inspect.js';
import { startService, type TestService } from '../support/service.js';
import { expectNotWhole, receive, type Received } from './support/receive.js';

/** Files that were joined, such as the recordings of a radio stream. Their headers state the length of one part. */

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-joined-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const tone = (hertz: number, seconds = 3) => [
  ...['-f', 'lavfi', '-i', `sine=frequency=400:sample_rate=${hertz}:duration=${seconds}`],
];
const bars = (size = '160x90', seconds = 3) => [
  ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=25:duration=${seconds}`],
];
const h264 = ['-c:a', 'aac', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'];

/** Parts of 3 s that differ in one way. */
const ownParts: Partial<Record<string, readonly string[]>> = {
  'usual.ts': [...bars(), ...tone(48_000), ...h264],
  'other-pids.ts': [
    ...[...bars(), ...tone(48_000), ...h264],
    ...['-mpegts_start_pid', '481', '-mpegts_pmt_start_pid', '480'],
  ],
  'swapped.ts': [...bars(), ...tone(48_000), ...h264, '-map', '1', '-map', '0'],
  'ac3.ts': [...bars(), ...tone(48_000), ...h264, '-c:a', 'ac3'],
  'mpeg2.ts': [...bars(), ...tone(48_000), '-c:a', 'aac', '-c:v', 'mpeg2video'],
  'stereo.ts': [...bars(), ...tone(44_100), ...h264, '-ac', '2'],
  'silent.ts': [...bars(), ...h264],
  'later.ts': [...bars(), ...tone(48_000), ...h264, '-output_ts_offset', '3'],
  'usual.aac': tone(48_000),
  'stereo.aac': [...tone(44_100), '-ac', '2'],
  'silent.mpg': [...bars('160x90', 8), '-c:v', 'mpeg2video'],
  'usual.mpg': [...bars(), ...tone(48_000), '-c:v', 'mpeg2video'],
  ...Object.fromEntries(
    ['no-audio.flv', 'no-audio.mkv', 'no-audio.ts'].map((name) => [
      name,
      [...bars(), ...tone(44_100), ...h264, '-bsf:a', 'noise=drop=1'],
    ]),
  ),
  'no-frames.mkv': [...bars(), ...tone(44_100), ...h264, '-bsf:v', 'noise=drop=1'],
  'late.ts': [...bars('160x90', 9), '-itsoffset', '7.5', ...tone(48_000, 1), ...h264],
};

async function partOf(name: string): Promise<Buffer> {
  const recipe = ownParts[name];
  return readFile(recipe === undefined ? await media(name) : await made(name, { args: [...recipe, name] }));
}

/** Serves the joined files. Returns their URL. */
async function joined(name: string, ...parts: string[]): Promise<string> {
  const path = join(folder, name);
  const files = await Promise.all(parts.map(partOf));
  await writeFile(path, Buffer.concat(files));
  site.on(`/joined/${name}`, (request, response) => sendFile(request, response, path, 'video/mp2t'));
  return `${site.url}/joined/${name}`;
}

const stream = async (url: string, path: string, query = ''): Promise<Received> =>
  receive(`${service.url}/api/${path}?url=${encodeURIComponent(url)}${query}`);

/** Serves a playlist of the parts. Each part has its own clock. */
async function playlist(name: string, ...parts: string[]): Promise<string> {
  const lines = await Promise.all(
    parts.map(async (part, index) => {
      const bytes = await partOf(part);
      site.on(`/joined/${name}-${index}`, (_request, response) => void response.end(bytes));
      return `#EXT-X-DISCONTINUITY\n#EXTINF:3.0,\n${name}-${index}\n`;
    }),
  );
  const body = `#EXTM3U\n#EXT-X-TARGETDURATION:3\n${lines.join('')}#EXT-X-ENDLIST\n`;
  site.on(`/joined/${name}`, (_request, response) => {
    response.setHeader('content-type', 'application/vnd.apple.mpegurl');
    response.end(body);
  });
  return `${site.url}/joined/${name}`;
}

/** A change that only a delivery shows is an error. The next response is then whole. */
async function streamAgain(url: string, path: string): Promise<Received> {
  const first = await stream(url, path);
  return first.status === 200 && first.complete ? first : stream(url, path);
}

/** Decodes everything. Returns the frames of video, what its decoder complains about, and the seconds of audio. */
async function decoded({ body }: Received, name: string) {
  const path = join(folder, name);
  await writeFile(path, body);
  const decode = ['-nostdin', '-v', 'error', '-i', path];
  const audio = await execa('ffmpeg', [...decode, '-vn', '-ac', '1', '-ar', '8000', '-f', 's16le', '-'], {
    encoding: 'buffer',
  });
  const video = name.endsWith('.mp4')
    ? await execa('ffmpeg', [...decode, '-an', '-fps_mode', 'passthrough', '-f', 'framehash', '-'])
    : { stdout: '', stderr: '' };
  return {
    seconds: audio.stdout.length / 16_000,
    frames: video.stdout.split('\n').filter((line) => /^\d/u.test(line)).length,
    errors: video.stderr,
  };
}

describe('a transport stream that changes in the middle', () => {
  it('has all of its media if only the sample rate changes', async () => {
    const name = 'rate.ts';
    const url = await joined(name, 'usual.ts', 'stereo.ts');
    const received = await streamAgain(url, 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    const { seconds, frames, errors } = await decoded(received, `${name}.mp4`);
    expect(errors).toBe('');
    expect(frames).toBe(150);
    expect(Math.abs(seconds - 6)).toBeLessThan(0.2);
    const mp3 = await stream(url, 'stream');
    expect(Math.abs((await decoded(mp3, `${name}.mp3`)).seconds - 6)).toBeLessThan(0.2);
  });

  it.each([
    ['codec.ts', 'ac3.ts'],
    ['video.ts', 'mpeg2.ts'],
    ['swap.ts', 'swapped.ts'],
    ['pids.ts', 'other-pids.ts'],
  ])('%s is never sent as if it were whole', async (name, second) => {
    const received = await stream(await joined(name, 'usual.ts', second), 'stream/video');
    expectNotWhole(received);
  });

  it('has all of its media in segments', async () => {
    const url = await playlist('rate.m3u8', 'usual.ts', 'stereo.ts');
    const received = await streamAgain(url, 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    const { seconds, frames } = await decoded(received, 'rate.m3u8.mp4');
    expect(frames).toBe(150);
    expect(Math.abs(seconds - 6)).toBeLessThan(0.2);
  });
});

describe('audio that begins late', () => {
  const find = {
    file: joined,
    segments: playlist,
  };

  it.each<[string, keyof typeof find, string[], number]>([
    ['late.ts', 'file', ['late.ts'], 9],
    ['late.m3u8', 'segments', ['silent.ts', 'usual.ts'], 6],
    ['late.mpg', 'file', ['silent.mpg', 'usual.mpg'], 11],
    ['late-tables.ts', 'file', ['silent.ts', 'later.ts'], 6],
  ])('is in the MP4 of %s', async (name, kind, parts, end) => {
    const received = await streamAgain(await find[kind](name, ...parts), 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    await writeFile(join(folder, `${name}.mp4`), received.body);
    const { streams } = await inspect(join(folder, `${name}.mp4`));
    expect(streams).toHaveLength(2);
    for (const { start_time: start = NaN, duration = NaN } of streams)
      expect(Math.abs(start + duration - end)).toBeLessThan(0.6);
  });

  it('is not expected in a clip before it', async () => {
    const url = await find.file('late-clip.ts', 'late.ts');
    expect((await streamAgain(url, 'stream/video')).complete).toBe(true);
    const clip = await stream(url, 'stream/video', '&start=0&end=2');
    expect(clip).toMatchObject({ status: 200, complete: true });
  });

  it('is never left out, even if it comes with other PIDs', async () => {
    const url = await joined('late-pids.ts', 'silent.ts', 'other-pids.ts');
    const received = await stream(url, 'stream/video');
    expectNotWhole(received);
  });
});

describe('audio that is stated and never comes', () => {
  it.each([
    ['no-audio.flv', joined, ['no-audio.flv'], 75],
    ['no-audio.ts', joined, ['no-audio.ts'], 75],
    ['no-audio.m3u8', playlist, ['no-audio.ts', 'no-audio.ts'], 150],
    ['no-audio.mkv', joined, ['no-audio.mkv'], 75],
  ] as const)('does not keep the video of %s from being sent', async (name, find, parts, frames) => {
    const received = await stream(await find(name, ...parts), 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    await writeFile(join(folder, `${name}.mp4`), received.body);
    const { streams } = await inspect(join(folder, `${name}.mp4`));
    expect(streams).toMatchObject([{ codec_type: 'video', nb_read_frames: frames }]);
  });

  it.each(['no-audio.flv', 'no-audio.ts'])('is not offered as an MP3 of %s', async (name) => {
    const url = await joined(`mp3-${name}`, name);
    // The second time, the service has learned it from the video.
    for (const learned of [false, true]) {
      if (learned) expect(await stream(url, 'stream/video')).toMatchObject({ complete: true });
      const { status, body } = await stream(url, 'stream');
      expect(status).toBe(422);
      expect(JSON.parse(body.toString())).toMatchObject({
        code: 'no_media',
        detail: expect.stringContaining('has no audio') as unknown,
      });
    }
  });

  it('is never left out if it comes late', async () => {
    const url = await joined('no-audio-yet.ts', 'no-audio.ts', 'later.ts');
    const received = await streamAgain(url, 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    await writeFile(join(folder, 'no-audio-yet.mp4'), received.body);
    expect((await inspect(join(folder, 'no-audio-yet.mp4'))).streams).toHaveLength(2);
  });
});

it('a video that is stated and has no frames is an error that offers the MP3', async () => {
  const url = await joined('no-frames.mkv', 'no-frames.mkv');
  const { status, body } = await stream(url, 'stream/video');
  expect(status).toBe(422);
  expect(JSON.parse(body.toString())).toMatchObject({
    code: 'no_media',
    detail: expect.stringContaining('Request an MP3') as unknown,
  });
  expect(await stream(url, 'stream')).toMatchObject({ status: 200, complete: true });
});

it('ADTS with two sample rates is whole as an MP3, and never copied', async () => {
  const url = await joined('rate.aac', 'usual.aac', 'stereo.aac');
  const mp3 = await streamAgain(url, 'stream');
  expect(mp3).toMatchObject({ status: 200, complete: true });
  expect(Math.abs((await decoded(mp3, 'rate.mp3')).seconds - 6)).toBeLessThan(0.2);
  const original = await stream(url, 'stream', '&fmt=original');
  expectNotWhole(original);
});

it('joined MP3 files have the length of both', async () => {
  const url = await joined('both.mp3', 'sound.mp3', 'vbr.mp3');
  const { body } = await service.info(url);
  expect(Math.abs(Number(body['duration']) - 8)).toBeLessThan(0.3);
  const received = await stream(url, 'stream');
  expect(received).toMatchObject({ status: 200, complete: true });
  expect(received.headers['x-content-duration']).toBe(String(body['duration']));
  expect(received.body.length).toBe((await readFile(join(folder, 'both.mp3'))).length);
});
