import { createHash } from 'node:crypto';
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { readMp3FrameHeader } from '../../src/formats/mpeg-audio/frames.js';
import { constantFrames, silentFrame } from '../../src/formats/mpeg-audio/info-frame.js';
import { inspect } from '../media/support/inspect.js';
import { media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { startService, type TestService } from '../support/service.js';
import { expectNotWhole, receive, type Received } from './support/receive.js';

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-exact-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const address = (page: string) => `${service.url}/api/stream?url=${encodeURIComponent(`${site.url}${page}`)}`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

it('has silence where the decoder of a low sample rate ends early', async () => {
  const bytes = Buffer.from(await readFile(await media('mono-8000.m4a')));
  const at = bytes.indexOf('mdhd') + 20;
  bytes.writeUInt32BE(bytes.readUInt32BE(at) + 2000, at);
  const path = join(folder, 'early.m4a');
  await writeFile(path, bytes);
  site.on('/early.m4a', async (req, res) => sendFile(req, res, path, 'audio/mp4'));
  const { headers, body, complete } = await receive(address('/early.m4a'));
  expect({ complete, length: headers['content-length'] }).toEqual({
    complete: true,
    length: String(body.length),
  });
  await writeFile(path, body);
  const { format } = await inspect(path);
  expect(Math.abs((format.duration ?? 0) - 4.25)).toBeLessThan(0.05);
});

describe('the Content-Length of an MP3 is exact', () => {
  it.each([
    ['sound.m4a', 4],
    ['short-sound.m4a', 0.05],
    ['long-sound.m4a', 61.7],
    ['mono-8000.m4a', 4],
    ...atNight<[string, number]>([
      ['surround.m4a', 4],
      ['h264-opus.mp4', 4],
      ['sound-48000.m4a', 4],
      ['indexed.m4a', 4],
      ['alac.m4a', 4],
      ['end.mp4', 4],
      ['sound-end.m4a', 4],
      ['sound-11025.m4a', 4],
      ['sound-22050.m4a', 4],
      ['sound-32000.m4a', 4],
      ['sound-96000.m4a', 4],
      ['front.mp4', 4],
      ['hevc.mp4', 4],
    ]),
  ])('of %s', async (name, seconds) => {
    const { status, headers, body, complete } = await receive(address(`/media/${name}`));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers['content-length']).toBe(String(body.length));
    expect(headers['accept-ranges']).toBe('bytes');
    expect(body.indexOf('Info')).toBeGreaterThan(0);
    const file = join(folder, name.replace(/\.\w+$/u, '.mp3'));
    await writeFile(file, body);
    const { format, streams } = await inspect(file);
    expect(streams[0]).toMatchObject({ codec_name: 'mp3', bit_rate: 192_000 });
    expect(Math.abs((format.duration ?? 0) - seconds)).toBeLessThan(0.1);
  });

  it.each(['vbr.mp3', ...atNight(['sound.mp3'])])('of %s, which is sent unchanged', async (name) => {
    const { headers, body } = await receive(address(`/media/${name}`));
    expect(headers['content-length']).toBe(String((await readFile(await media(name))).length));
    expect(sha256(body)).toBe(sha256(await readFile(await media(name))));
  });

  it.each([
    'opus.webm',
    'fragments.m4a',
    ...atNight(['sound.flac', 'sound.ogg', 'h264.mkv', 'hls-ts/index.m3u8']),
  ])('and estimated where the source does not state the samples: %s', async (name) => {
    const { headers, body, complete } = await receive(address(`/media/${name}`));
    expect(complete).toBe(true);
    expect(headers['content-length']).toBeUndefined();
    expect(headers['accept-ranges']).toBe('none');
    const estimate = Number(headers['estimated-content-length']);
    expect(Math.abs(body.length - estimate) / body.length).toBeLessThan(0.05);
    // Of a file with audio alone, the first frame states the length, which ffmpeg reports once it has opened it.
    const isAudioFile = name.startsWith('sound') || name.startsWith('opus') || name.startsWith('fragments');
    expect(body.includes('Info')).toBe(isAudioFile);
  });
});

describe('an MP3 of known size', () => {
  const page = '/open-graph?media=long.mp4';
  let whole: Received;

  beforeAll(async () => {
    whole = await receive(address(page));
  });

  it('is byte-for-byte the same every time, and HEAD returns its headers', async () => {
    const second = await receive(address(page));
    const head = await receive(address(page), { method: 'HEAD' });
    expect(sha256(second.body)).toBe(sha256(whole.body));
    expect(whole.headers.etag).toMatch(/^"[\w-]{27}"$/u);
    for (const name of ['etag', 'content-length', 'accept-ranges']) {
      expect([name, second.headers[name], head.headers[name]]).toEqual([
        name,
        whole.headers[name],
        whole.headers[name],
      ]);
    }
  });

  it.each([
    ['in the tag', 5],
    ['in the audio', 300_000],
    ['in the last frame', -100],
  ])('resumes %s', async (_, offset) => {
    const { body: wholeBody, headers } = whole;
    const start = offset < 0 ? wholeBody.length + offset : offset;
    const ifRange = headers.etag ?? '';
    const rest = await receive(address(page), { headers: { range: `bytes=${start}-`, 'if-range': ifRange } });
    expect({ status: rest.status, complete: rest.complete }).toEqual({ status: 206, complete: true });
    expect(rest.body.equals(wholeBody.subarray(start))).toBe(true);
    expect(rest.headers['content-range']).toBe(`bytes ${start}-${wholeBody.length - 1}/${wholeBody.length}`);
  });

  it('is sent whole for another version, and for a range that ends before its end', async () => {
    const other = { range: 'bytes=1000-', 'if-range': '"another"' };
    expect((await receive(address(page), { headers: other })).status).toBe(200);
    expect((await receive(address(page), { headers: { range: 'bytes=1000-2000' } })).status).toBe(200);
  });

  it('rejects a range past its end without starting ffmpeg', async () => {
    const { headers } = await receive(address(page), { method: 'HEAD' });
    const range = `bytes=${headers['content-length'] ?? ''}-`;
    expect((await receive(address(page), { headers: { range } })).status).toBe(416);
  });

  it('changes its ETag with the file of the site, and cannot be resumed if the site has no ETag', async () => {
    let etag = '"1"';
    site.on('/versioned.m4a', async (req, res) => {
      const writeHead = res.writeHead.bind(res);
      res.writeHead = ((status: number, headers: Record<string, string>) =>
        writeHead(status, { ...headers, etag })) as typeof res.writeHead;
      await sendFile(req, res, await media('sound.m4a'), 'audio/mp4');
    });
    const first = await receive(address('/versioned.m4a?1'), { method: 'HEAD' });
    etag = '"2"';
    const second = await receive(address('/versioned.m4a?2'), { method: 'HEAD' });
    expect(second.headers['content-length']).toBe(first.headers['content-length']);
    expect(second.headers.etag).not.toBe(first.headers.etag);
    etag = 'W/"3"';
    const weak = await receive(address('/versioned.m4a?3'), { headers: { range: 'bytes=100-' } });
    expect(weak).toMatchObject({ status: 200, headers: { 'accept-ranges': 'none' } });
    expect(weak.headers['content-length']).toBe(String(weak.body.length));
  });

  it('is reset when the source has less audio than it states', async () => {
    site.on('/hollow.m4a', async (_req, res) => {
      const bytes = Buffer.from(await readFile(await media('long-sound.m4a')));
      // Destroys the second half of the audio.
      bytes.fill(0, Math.floor(bytes.length / 2));
      res.writeHead(200, { 'content-type': 'audio/mp4', 'content-length': bytes.length }).end(bytes);
    });
    expectNotWhole(await receive(address('/hollow.m4a')));
  });
});

describe('constantFrames', () => {
  // Measured with ffmpeg and libmp3lame.
  it.each([
    [44_100, 1, 2, 1253],
    [44_100, 1152, 2, 1253],
    [44_100, 1153, 3, 1880],
    [44_100, 100_000, 88, 55_170],
    [44_100, 441_001, 384, 240_744],
    [48_000, 1153, 3, 1728],
    [48_000, 176_400, 155, 89_280],
  ])("matches LAME's output at %d Hz for %d samples", (sampleRate, samples, frames, totalBytes) => {
    expect(constantFrames(samples, { bitrateKbps: 192, sampleRate })).toMatchObject({ frames, totalBytes });
  });

  it('matches the size of every LAME frame, even if the last one is padded', async () => {
    const source = ['-f', 'lavfi', '-i', `sine=sample_rate=44100:duration=${(200 * 1152) / 44_100}`];
    const encoder = ['-c:a', 'libmp3lame', '-b:a', '192k', '-write_xing', '0', '-id3v2_version', '0'];
    const { stdout } = await execa('ffmpeg', ['-v', 'error', ...source, ...encoder, '-f', 'mp3', 'pipe:1'], {
      encoding: 'buffer',
    });
    const mp3 = Buffer.from(stdout);
    const { bytesBefore } = constantFrames(1, { bitrateKbps: 192, sampleRate: 44_100 });
    const ends: number[] = [];
    for (let end = 0; end < mp3.length;) {
      end += readMp3FrameHeader(mp3.readUInt32BE(end))?.sizeBytes ?? Infinity;
      ends.push(end);
    }
    expect(ends.length).toBeGreaterThan(200);
    expect(ends.map((_, index) => bytesBefore(index + 1))).toEqual(ends);
  });

  it('supports silent frames of both sizes', () => {
    const like = Buffer.from('fffbb264', 'hex');
    expect(silentFrame(like, 626).readUInt32BE().toString(16)).toBe('fffbb064');
    expect(silentFrame(like, 627).readUInt32BE().toString(16)).toBe('fffbb264');
  });
});
