import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { execa } from 'execa';
import { media, type Site, startSite } from '@media-services/fault-site';
import { locatePython } from '../../src/extract/engine.js';
import { inspect } from '../media/support/inspect.js';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { startService, type TestService } from '../support/service.js';
import { receive } from './support/receive.js';

let site: Site;
let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-original-'));
  site = await startSite();
  service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const pageOf = (name: string) => `${site.url}/media/${name}`;
const address = (name: string) =>
  `${service.url}/api/stream?fmt=original&url=${encodeURIComponent(pageOf(name))}`;
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

it('a fragmented M4A loses the length of its track, which Apple players would add to that of the fragments', async () => {
  const expected = await readFile(await media('fragments.m4a'));
  const lengthAt = expected.indexOf('mdhd') + 4 + 4 + 4 + 4 + 4;
  expect(expected.readUInt32BE(lengthAt)).toBe(0);
  const stated = Buffer.from(expected);
  stated.writeUInt32BE(4 * 44_100, lengthAt);
  site.on('/stated.m4a', async (req, res) => {
    const [, from = '0', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(req.headers.range ?? '') ?? [];
    const [start, end] = [Number(from), Math.min(to === '' ? Infinity : Number(to) + 1, stated.length)];
    res.writeHead(206, {
      'content-type': 'audio/mp4',
      'content-length': end - start,
      'content-range': `bytes ${start}-${end - 1}/${stated.length}`,
      etag: '"1"',
    });
    res.end(stated.subarray(start, end));
    return Promise.resolve();
  });
  const url = `${service.url}/api/stream?fmt=original&url=${encodeURIComponent(`${site.url}/stated.m4a`)}`;
  const { body, complete, headers } = await receive(url);
  expect({ complete, isEqual: body.equals(expected) }).toEqual({ complete: true, isEqual: true });

  const range = `bytes=${lengthAt + 2}-${lengthAt + 9}`;
  const part = await fetch(url, { headers: { range, 'if-range': String(headers['etag']) } });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(expected.subarray(lengthAt + 2, lengthAt + 10));
});

describe('an audio file is sent byte for byte', () => {
  it.each([
    ['sound.m4a', 'audio/mp4', 'm4a'],
    ['vbr.mp3', 'audio/mpeg', 'mp3'],
    ['sound.ogg', 'audio/ogg', 'ogg'],
    ['sound.flac', 'audio/flac', 'flac'],
    ...atNight([
      ['opus.webm', 'audio/webm', 'webm'],
      ['sound.wav', 'audio/wav', 'wav'],
      ['sound-end.m4a', 'audio/mp4', 'm4a'],
      ['indexed.m4a', 'audio/mp4', 'm4a'],
      ['fragments.m4a', 'audio/mp4', 'm4a'],
      ['alac.m4a', 'audio/mp4', 'm4a'],
      ['long.ogg', 'audio/ogg', 'opus'],
    ]),
  ])('%s as %s, .%s, with its length, ranges and ETag', async (name, mediaType, extension) => {
    const original = await readFile(await media(name));
    const { status, headers, body, complete } = await receive(address(name));
    expect({ status, complete, sha256: sha256(body) }).toEqual({
      status: 200,
      complete: true,
      sha256: sha256(original),
    });
    expect(headers).toMatchObject({
      'content-type': mediaType,
      'content-length': String(original.length),
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[\w-]{27}"$/u) as string,
    });
    expect(headers['content-disposition']).toContain(`.${extension}`);
    const head = await receive(address(name), { method: 'HEAD' });
    for (const key of ['content-type', 'content-length', 'content-disposition', 'etag'])
      expect([key, head.headers[key]]).toEqual([key, headers[key]]);

    const ifRange = String(headers.etag);
    const part = await receive(address(name), { headers: { range: 'bytes=1000-', 'if-range': ifRange } });
    expect({ status: part.status, sha256: sha256(part.body) }).toEqual({
      status: 206,
      sha256: sha256(original.subarray(1000)),
    });

    expect((await service.info(pageOf(name))).body['originalAudio']).toMatchObject({
      container: extension,
      isSiteFile: true,
      exactBytes: original.length,
    });
  });
});

/** A digest of all audio packets in the file. */
async function packets(file: string, filter: readonly string[]): Promise<string> {
  const { stdout } = await execa('ffmpeg', [
    ...['-v', 'error', '-i', file, '-map', '0:a:0', '-c', 'copy', ...filter],
    ...['-f', 'streamhash', '-hash', 'sha256', '-'],
  ]);
  return stdout;
}

/** The site's playlists are in the same folders as their segments. */
async function sourceOf(name: string): Promise<string> {
  const [folderName = '', index] = name.split('/');
  return index === undefined ? media(name) : join(await media(folderName), index);
}

it('spatial audio is sent as it is, and an MP3 of it is a clear error', async () => {
  expect(await receive(address('spatial.webm'))).toMatchObject({ status: 200, complete: true });
  const { status, body } = await receive(
    `${service.url}/api/stream?url=${encodeURIComponent(pageOf('spatial.webm'))}`,
  );
  expect({ status, body: body.toString() }).toMatchObject({
    status: 422,
    body: expect.stringContaining("is spatial (ambisonic), which can't be converted to stereo") as string,
  });
});

const plainAac = ['-bsf:a', 'aac_adtstoasc'];

describe('audio in other files is copied', () => {
  it.each([
    ['front.mp4', 'audio/mp4', 'm4a', 'aac'],
    ['vp9.webm', 'audio/ogg', 'opus', 'opus'],
    ...atNight([
      ['flac.mkv', 'audio/ogg', 'ogg', 'flac'],
      ['mp3.mkv', 'audio/mpeg', 'mp3', 'mp3'],
      ['hls-ts/index.m3u8', 'audio/mp4', 'm4a', 'aac'],
      ['sound.aac', 'audio/mp4', 'm4a', 'aac'],
      ['vp8.webm', 'audio/ogg', 'ogg', 'vorbis'],
      ['end.mp4', 'audio/mp4', 'm4a', 'aac'],
      ['h264.mkv', 'audio/mp4', 'm4a', 'aac'],
      ['hls-fmp4/index.m3u8', 'audio/mp4', 'm4a', 'aac'],
      ['h264-opus.mp4', 'audio/ogg', 'opus', 'opus'],
    ]),
  ])('%s as %s, .%s, %s', async (name, mediaType, extension, codec) => {
    // Encoding it may take longer than a stream waits for its first byte.
    const source = await sourceOf(name);
    const { status, headers, body, complete } = await receive(address(name));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers).toMatchObject({ 'content-type': mediaType, 'accept-ranges': 'none' });
    expect(headers['content-disposition']).toContain(`.${extension}`);
    const file = join(folder, `${name.replace(/\W/gu, '-')}.${extension}`);
    await writeFile(file, body);
    const { format, streams } = await inspect(file);
    expect(streams).toEqual([expect.objectContaining({ codec_name: codec })]);
    expect(Math.abs((format.duration ?? 0) - 4)).toBeLessThan(0.1);
    const filter = codec === 'aac' ? plainAac : [];
    expect(await packets(file, filter)).toBe(await packets(source, filter));
    const head = await receive(address(name), { method: 'HEAD' });
    for (const key of ['content-type', 'content-disposition', 'estimated-content-length'])
      expect([key, head.headers[key]]).toEqual([key, headers[key]]);

    expect((await service.info(pageOf(name))).body['originalAudio']).toMatchObject({
      container: extension,
      isSiteFile: false,
      exactBytes: null,
      codec: expect.stringMatching(codec === 'aac' ? /^(?:aac|mp4a)/u : codec) as string,
    });
  });

  it.each([
    'dash-timeline/manifest.mpd',
    ...atNight(['dash-list/manifest.mpd', 'hls-master/index.m3u8', 'hls-aes/index.m3u8']),
  ])('completely from %s', async (name) => {
    const { headers, body, complete } = await receive(address(name));
    expect(complete).toBe(true);
    expect(headers['content-type']).toBe('audio/mp4');
    const file = join(folder, `${name.replace(/\W/gu, '-')}.m4a`);
    await writeFile(file, body);
    const { format, streams } = await inspect(file);
    expect(streams.map(({ codec_name }) => codec_name)).toEqual(['aac']);
    expect(Math.abs((format.duration ?? 0) - 4)).toBeLessThan(0.1);
    expect(streams[0]?.nb_read_frames).toBeGreaterThanOrEqual(172);
  });

  it.each(['vp9.webm', ...atNight(['h264.mkv'])])('states the title in its tags: %s', async (name) => {
    const { body } = await receive(address(name));
    const file = join(folder, `tagged-${name}`);
    await writeFile(file, body);
    const { stdout } = await execa('ffprobe', [
      ...['-v', 'error', '-show_entries', 'format_tags=title:stream_tags=title', '-of', 'csv=p=0', file],
    ]);
    expect(stdout).toContain(name.slice(0, 3));
  });
});

/** Reads the cover with ffmpeg. */
async function coverOf(file: string): Promise<Buffer> {
  const { stdout } = await execa(
    'ffmpeg',
    ['-v', 'error', '-i', file, '-map', '0:v:0', '-c', 'copy', '-f', 'image2pipe', '-'],
    { encoding: 'buffer' },
  );
  return Buffer.from(stdout);
}

const readTags = fileURLToPath(new URL('./support/read_tags.py', import.meta.url));

/** Title, author and cover as Mutagen reads them. pip installs it with yt-dlp; null without it. */
async function tagsByMutagen(file: string): Promise<unknown> {
  const { stdout } = await execa(await locatePython(process.env['YTDLP_PYTHON'] ?? ''), [readTags, file]);
  return JSON.parse(stdout);
}

describe('audio in other files has the title, the author and the cover', () => {
  const large = Buffer.alloc(500 * 1024, 7);

  beforeAll(async () => {
    const cover = await readFile(await media('cover.jpg'));
    cover.copy(large);
    site.on('/media/cover.jpg', (_req, res) => void res.end(large));
  });

  it.each([
    ['front.mp4', 'm4a'],
    ['vp9.webm', 'opus'],
    ...atNight([
      ['mp3.mkv', 'mp3'],
      ['flac.mkv', 'ogg'],
      ['vp8.webm', 'ogg'],
    ]),
  ])('of a page with %s, as .%s', async (name, extension) => {
    const url = `${site.url}/json-ld?media=${name}`;
    const query = new URLSearchParams({ url, fmt: 'original' }).toString();
    const { body, complete } = await receive(`${service.url}/api/stream?${query}`);
    expect(complete).toBe(true);
    const file = join(folder, `cover-${name}.${extension}`);
    await writeFile(file, body);
    const { format, streams } = await inspect(file);
    const { tags } = extension === 'm4a' || extension === 'mp3' ? format : (streams[0] ?? format);
    expect(Object.values(tags ?? {})).toEqual(expect.arrayContaining(['A VideoObject', 'Ada Example']));
    // What the source says about its track isn't kept.
    if (extension === 'opus' || extension === 'ogg') expect(tags).not.toHaveProperty('DURATION');
    expect(streams[1]?.disposition.attached_pic).toBe(1);
    expect((await coverOf(file)).equals(large)).toBe(true);
    const expected = { title: 'A VideoObject', author: 'Ada Example', coverSha256: sha256(large) };
    expect([expected, null]).toContainEqual(await tagsByMutagen(file));

    const plain = await receive(address(name));
    const plainFile = join(folder, `plain-${name}.${extension}`);
    await writeFile(plainFile, plain.body);
    expect(await packets(file, [])).toBe(await packets(plainFile, []));
  });

  it('from an HLS playlist of Ogg too', async () => {
    const whole = await readFile(await media('long.ogg'));
    const cut = whole.indexOf('OggS', whole.length / 2);
    const parts = [whole.subarray(0, cut), whole.subarray(cut)];
    parts.forEach((part, index) => site.on(`/media/ogg/${index}.ogg`, (_req, res) => void res.end(part)));
    const playlist = ['#EXTM3U', '#EXT-X-TARGETDURATION:30', '#EXTINF:30,', '0.ogg', '#EXTINF:30,', '1.ogg'];
    site.on('/media/ogg/index.m3u8', (_req, res) => void res.end([...playlist, '#EXT-X-ENDLIST'].join('\n')));
    const query = new URLSearchParams({ url: `${site.url}/json-ld?media=ogg/index.m3u8`, fmt: 'original' });
    const { body, complete } = await receive(`${service.url}/api/stream?${query.toString()}`);
    expect(complete).toBe(true);
    const file = join(folder, 'joined.opus');
    await writeFile(file, body);
    expect((await coverOf(file)).equals(large)).toBe(true);
    expect(await packets(file, [])).toBe(await packets(await media('long.ogg'), []));
  });

  it.each([
    ['front.mp4', 'm4a'],
    ['vp9.webm', 'opus'],
  ])('but no cover if that comes too late: %s', async (name, extension) => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    site.on('/media/cover.jpg', async (_req, res) => {
      await delay(200);
      // Node 20 may lose a timeout that nobody holds.
      collectGarbage();
      await delay(1800);
      res.end(large);
    });
    const query = new URLSearchParams({ url: `${site.url}/json-ld?media=${name}`, fmt: 'original' });
    const { body, complete } = await receive(`${service.url}/api/stream?${query.toString()}`);
    expect(complete).toBe(true);
    const file = join(folder, `late-${name}.${extension}`);
    await writeFile(file, body);
    expect((await inspect(file)).streams).toHaveLength(1);
    const plainFile = join(folder, `plain-${name}.${extension}`);
    await writeFile(plainFile, (await receive(address(name))).body);
    expect(await packets(file, [])).toBe(await packets(plainFile, []));
  });
});

describe('audio that cannot be sent without re-encoding', () => {
  it.each(['pcm.mkv', 'silent.mp4'])('is no_media: %s', async (name) => {
    const { status, body } = await receive(address(name));
    expect({ status, code: (JSON.parse(body.toString()) as { code: string }).code }).toEqual({
      status: 422,
      code: 'no_media',
    });
    expect((await service.info(pageOf(name))).body['originalAudio']).toBeNull();
  });

  it('names the parameter of an unknown format', async () => {
    const response = await service.get('/api/stream', { url: pageOf('sound.m4a'), fmt: 'wav' });
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_request',
        errors: [{ field: 'fmt', message: 'must be mp3, original, vtt or srt' }],
      },
    });
  });
});
