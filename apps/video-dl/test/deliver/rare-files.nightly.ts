import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { made, media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { inspect } from '../media/support/inspect.js';
import { startService, type TestService } from '../support/service.js';
import { receive, type Received } from './support/receive.js';

/** Files that ffmpeg reads, but does not write, and some that other programs write in their own way. */

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-rare-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function served(name: string, bytes: Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  site.on(`/rare/${name}`, (request, response) =>
    sendFile(request, response, path, 'application/octet-stream'),
  );
  return `${site.url}/rare/${name}`;
}

const stream = async (url: string, path: string): Promise<Received> =>
  receive(`${service.url}/api/${path}${path.includes('?') ? '&' : '?'}url=${encodeURIComponent(url)}`);

async function secondsOf({ body }: Received, name: string): Promise<number[]> {
  const path = join(folder, name);
  await writeFile(path, body);
  return (await inspect(path)).streams.map(({ duration }) => duration ?? NaN);
}

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4);
  return bytes;
};
const halves = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2);
  return bytes;
};
const long = (value: number): Buffer => words(value, 0);

const seconds = 4;
const samples = seconds * 44_100;

/** Monkey's Audio 3.99 with one frame of silence. */
function monkeysAudio(): Buffer {
  const silence = 3;
  const frame = words(0x8000_0000, silence, 0, 0);
  const header = [halves(1000, 0x20), words(294_912, samples, 1), halves(16, 2), words(44_100)];
  const descriptor = [Buffer.from('MAC '), halves(3990, 0), words(52, 24, 4, 0, frame.length, 0, 0)];
  return Buffer.concat([...descriptor, Buffer.alloc(16), ...header, words(80), frame]);
}

const dsdRate = 2_822_400;
const dsdBlock = 4096;
const dsdSilence = 0x69;

/** DSD in Sony's container: two channels in blocks. */
function dsf(): Buffer {
  const blocks = Math.ceil((dsdRate * seconds) / 8 / dsdBlock);
  const data = Buffer.alloc(blocks * dsdBlock * 2, dsdSilence);
  const format = [words(1, 0, 2, 2, dsdRate, 1), long(dsdRate * seconds), words(dsdBlock, 0)];
  const total = 28 + 52 + 12 + data.length;
  return Buffer.concat([
    ...[Buffer.from('DSD '), long(28), long(total), long(0)],
    ...[Buffer.from('fmt '), long(52), ...format],
    ...[Buffer.from('data'), long(12 + data.length), data],
  ]);
}

/** DSD in Philips' container. */
function dsdiff(): Buffer {
  const chunk = (name: string, ...parts: readonly Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    const size = Buffer.alloc(8);
    size.writeUInt32BE(content.length, 4);
    return Buffer.concat([Buffer.from(name), size, content]);
  };
  const property = chunk(
    'PROP',
    Buffer.from('SND '),
    chunk('FS  ', words(dsdRate).swap32()),
    chunk('CHNL', halves(2).swap16(), Buffer.from('SLFTSRGT')),
    chunk('CMPR', Buffer.from('DSD \x0enot compressed\0')),
  );
  const data = chunk('DSD ', Buffer.alloc((dsdRate / 4) * seconds, dsdSilence));
  return chunk('FRM8', Buffer.from('DSD '), chunk('FVER', words(0x0105_0000).swap32()), property, data);
}

it.each([
  ["Monkey's Audio", 'sound.ape', monkeysAudio],
  ['DSD (DSF)', 'sound.dsf', dsf],
  ['DSD (DSDIFF)', 'sound.dff', dsdiff],
] as const)('%s is converted completely', async (_what, name, make) => {
  const url = await served(name, make());
  const { body } = await service.info(url);
  expect(Math.abs(Number(body['duration']) - seconds)).toBeLessThan(0.05);
  const received = await stream(url, 'stream');
  expect(received).toMatchObject({ status: 200, complete: true });
  const [length = 0] = await secondsOf(received, `${name}.mp3`);
  expect(Math.abs(length - seconds)).toBeLessThan(0.1);
});

it('TAK that is damaged is rejected permanently', async () => {
  const url = await served('sound.tak', Buffer.from(`tBaK${'x'.repeat(5000)}`));
  const { status, body } = await stream(url, 'stream');
  expect(status).toBe(422);
  expect(JSON.parse(body.toString())).toMatchObject({ code: 'no_media', retryable: false });
});

async function expectWhole(
  url: string,
  // The length of each track's samples, which ffprobe adds up.
  expected: { duration: number; tracks: readonly number[] },
): Promise<void> {
  const { body } = await service.info(url);
  expect(Math.abs(Number(body['duration']) - expected.duration)).toBeLessThan(0.2);
  const received = await stream(url, 'stream/video');
  expect(received).toMatchObject({ status: 200, complete: true });
  expect(Math.abs(Number(received.headers['x-content-duration']) - expected.duration)).toBeLessThan(0.2);
  const tracks = await secondsOf(received, 'result.mp4');
  expect(tracks).toHaveLength(expected.tracks.length);
  for (const [index, track] of tracks.entries())
    expect(Math.abs(track - (expected.tracks[index] ?? 0))).toBeLessThan(0.3);
}

it('Matroska whose audio starts before zero is as long as its media', async () => {
  const source = await media('front.mp4');
  const path = await made('negative.mkv', {
    args: [
      ...['-i', source, '-itsoffset', '-1', '-i', source, '-map', '0:v', '-map', '1:a', '-c', 'copy'],
      ...['-avoid_negative_ts', 'disabled', 'negative.mkv'],
    ],
  });
  await expectWhole(await served('negative.mkv', await readFile(path)), { duration: 5, tracks: [4, 4] });
});

it.each([
  ['whose audio starts late', 'late-audio.mkv', [], ['-itsoffset', '2'], { duration: 6, tracks: [4, 4] }],
  ['with a single image', 'still.mkv', ['-t', '0.04'], [], { duration: 4, tracks: [0.04, 4] }],
] as const)('Matroska %s is sent completely', async (_, name, forVideo, forAudio, expected) => {
  const source = await media('small.mp4');
  const path = await made(name, {
    args: [
      ...[...forVideo, '-i', source, ...forAudio, '-i', source],
      ...['-map', '0:v', '-map', '1:a', '-c', 'copy', name],
    ],
  });
  await expectWhole(await served(name, await readFile(path)), expected);
});

it.each([
  ['starts late', 'late-audio.mkv', ['-itsoffset', '2'], 4],
  ['ends early', 'short-audio.mp4', ['-t', '2'], 2],
  ['has no stated length', 'audio.flv', ['-itsoffset', '2'], null],
] as const)(
  'an MP3 of a video whose audio %s states its own length or none',
  async (_, name, forAudio, seconds) => {
    const source = await media('small.mp4');
    const args = ['-i', source, ...forAudio, '-i', source, '-map', '0:v', '-map', '1:a', '-c', 'copy', name];
    const url = await served(name, await readFile(await made(name, { args })));
    const { headers, body } = await stream(url, 'stream');
    const stated = headers['x-content-duration'];
    if (seconds === null) {
      expect(stated).toBeUndefined();
      return;
    }
    expect(Math.abs(Number(stated) - seconds)).toBeLessThan(0.1);
    const bytes = Number(headers['content-length'] ?? headers['estimated-content-length']);
    expect(Math.abs(bytes / body.length - 1)).toBeLessThan(0.05);
  },
);

it.each([
  ['audio', '0', '20'],
  ['tracks', '20', '20'],
] as const)('an AVI whose %s start late is sent completely', async (what, videoDelay, audioDelay) => {
  const source = await media('front.mp4');
  const name = `late-${what}.avi`;
  const path = await made(name, {
    args: [
      ...['-itsoffset', videoDelay, '-i', source, '-itsoffset', audioDelay, '-i', source],
      ...['-map', '0:v', '-map', '1:a', '-c', 'copy', name],
    ],
  });
  const received = await stream(await served(name, await readFile(path)), 'stream/video');
  expect(received).toMatchObject({ status: 200, complete: true });
  const file = join(folder, `${name}.mp4`);
  await writeFile(file, received.body);
  const [video, audio] = (await inspect(file)).streams;
  expect(video?.nb_read_frames).toBe(100);
  expect(audio?.nb_read_frames).toBeGreaterThanOrEqual(172);
});

it.each([
  ['Microsoft Video 1', 'msvideo1', 'old.avi'],
  ['Apple Video', 'rpza', 'old.mov'],
])('%s is converted completely', async (_, codec, name) => {
  const path = await made(name, {
    args: [...['-i', await media('front.mp4'), '-c:v', codec, '-c:a', 'pcm_s16le', name]],
  });
  await expectWhole(await served(name, await readFile(path)), { duration: 4, tracks: [4, 4] });
});

describe.each([
  ['Matroska whose second audio track is the default', 'default.mkv', '0', 'default'],
  ['Matroska whose first audio track is a commentary', 'commentary.mkv', 'default+comment', 'default'],
  ['QuickTime whose first audio track is disabled', 'disabled.mov', '0', 'default'],
])('%s', (_, name, first, second) => {
  const mainRate = 44_100;
  let url: string;
  beforeAll(async () => {
    const path = await made(name, {
      args: [
        ...['-i', await media('front.mp4'), '-f', 'lavfi', '-i', 'anullsrc=r=48000:d=2'],
        ...['-map', '0:v', '-map', '1:a', '-map', '0:a', '-c', 'copy', '-c:a:0', 'aac'],
        ...['-disposition:a:0', first, '-disposition:a:1', second, name],
      ],
    });
    url = await served(name, await readFile(path));
  });

  it.each([
    ['MP4', 'stream/video'],
    ['MP3', 'stream'],
    ['original audio', 'stream?fmt=original'],
    ['clip', 'stream/video?start=1'],
  ])('is sent with its main audio as %s', async (target, path) => {
    const received = await stream(url, path);
    expect(received).toMatchObject({ status: 200, complete: true });
    const file = join(folder, `${target}.${name}`);
    await writeFile(file, received.body);
    const audio = (await inspect(file)).streams.filter(({ codec_type: type }) => type === 'audio');
    expect(audio).toMatchObject([{ sample_rate: mainRate }]);
    expect(audio[0]?.duration).toBeGreaterThan(2.9);
  });
});

/** From the n-th sequence header on, as recorders cut. */
function cutBeforeBFrames(file: Buffer, sequences: number): Buffer {
  let at = -1;
  for (let sequence = 0; sequence < sequences; sequence += 1) at = file.indexOf('000001b3', at + 1, 'hex');
  return file.subarray(file.lastIndexOf(Buffer.from('000001ba', 'hex'), at));
}

/** Sets `closed_gop` in the first group of pictures (ISO 13818-2, 6.3.8). */
function closeFirstGroup(file: Buffer): Buffer {
  const changed = Buffer.from(file);
  const flagsAt = changed.indexOf('000001b8', 0, 'hex') + 7;
  changed.writeUInt8(changed.readUInt8(flagsAt) | 0x40, flagsAt);
  return changed;
}

it.each([
  // From the 25th of 100 frames on. Two more follow it in the file, are shown before it and lack their reference.
  ['where they lack their reference', 76, (cut: Buffer) => cut],
  ['where they need no other frame', 78, closeFirstGroup],
])(
  'a program stream that is cut before B-frames has every frame that can be decoded, %s',
  async (_, decodable, change) => {
    const encode = ['-c:v', 'mpeg2video', '-g', '12', '-bf', '2', '-f', 'vob', 'film.vob'];
    const recipe = { args: ['-f', 'lavfi', '-i', 'testsrc2=s=320x240:r=25:d=4', ...encode] };
    const file = await readFile(await made('film.vob', recipe));
    const url = await served('cut.mpg', change(cutBeforeBFrames(file, 3)));
    expect((await inspect(join(folder, 'cut.mpg'))).streams[0]?.nb_read_frames).toBe(decodable);
    const received = await stream(url, 'stream/video');
    expect(received).toMatchObject({ status: 200, complete: true });
    await writeFile(join(folder, 'cut.mp4'), received.body);
    expect((await inspect(join(folder, 'cut.mp4'))).streams[0]?.nb_read_frames).toBe(decodable);
  },
);
