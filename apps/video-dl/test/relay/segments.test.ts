import { createCipheriv } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeBox } from '../../src/formats/mp4/box.js';
import { id3TagBytes, readMp3FrameHeader } from '../../src/formats/mpeg-audio/frames.js';
import type { RelaySession } from '../../src/relay/session.js';
import type { MediaSource } from '../../src/upstream/media-source.js';
import { media } from '@media-services/fault-site';
import { readInput, readSource, startBench, type Bench, type Reading } from './support/bench.js';

let bench: Bench;
let ts: readonly Buffer[];
let fmp4: readonly Buffer[];
let init: Buffer;
let dash: readonly Buffer[];
let aac: Buffer;
let ogg: readonly Buffer[];

beforeAll(async () => {
  bench = await startBench();
  ts = await numbered('hls-ts', /^index\d\.ts$/);
  fmp4 = await numbered('hls-fmp4', /^index\d\.m4s$/);
  init = await readFile(join(await media('hls-fmp4'), 'init.mp4'));
  dash = await numbered('dash-template', /stream0.*\.m4s$/);
  aac = await readFile(await media('sound.aac'));
  ogg = slicesOfPages(await readFile(await media('long.ogg')));
});
afterAll(() => bench[Symbol.asyncDispose]());

async function numbered(recipe: string, pattern: RegExp): Promise<Buffer[]> {
  const folder = await media(recipe);
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).toSorted();
  // The DASH initialisation sorts after the chunks.
  names.sort((a, b) => Number(b.startsWith('init')) - Number(a.startsWith('init')));
  return Promise.all(names.map(async (name) => readFile(join(folder, name))));
}

/** Four slices of an Ogg file, each with complete pages. */
function slicesOfPages(file: Buffer): Buffer[] {
  const starts: number[] = [];
  for (let at = file.indexOf('OggS'); at >= 0; at = file.indexOf('OggS', at + 4)) starts.push(at);
  const cuts = [0, 1, 2, 3].map((part) => starts[Math.floor((part * starts.length) / 4)] ?? 0);
  return cuts.map((cut, part) => file.subarray(cut, cuts[part + 1]));
}

let counter = 0;

/** Serves a body from the media server. @returns its URL */
function put(body: string | Buffer, status = 200): string {
  const path = `/put/${counter++}`;
  bench.on(path, (request, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (start === undefined || status !== 200) {
      response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
      return;
    }
    const part = Buffer.from(body).subarray(Number(start), Number(end) + 1);
    const range = `bytes ${start}-${Number(start) + part.length - 1}/${Buffer.byteLength(body)}`;
    response.writeHead(206, { 'content-range': range, 'content-length': part.length }).end(part);
  });
  return `${bench.site}${path}`;
}

const vod = (...lines: string[]) =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines, '#EXT-X-ENDLIST', ''].join('\n');
const hls = (...lines: string[]): MediaSource => ({ url: put(vod(...lines)), headers: {}, kind: 'hls' });
const segments = (bodies: readonly Buffer[], seconds = '1.0'): string[] =>
  bodies.flatMap((body) => [`#EXTINF:${seconds},`, put(body)]);

const onePixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgAAIAAAUAAXpeqz8AAAAASUVORK5CYII=',
  'base64',
);

interface Result extends Reading {
  readonly session: RelaySession;
}

async function read(source: MediaSource, renew?: () => Promise<MediaSource>): Promise<Result> {
  const session = bench.session(renew);
  const reading = await readSource(session, source);
  return { session, ...reading };
}

/** The failure of a source, before or after the first byte. */
async function failureOf(source: MediaSource, renew?: () => Promise<MediaSource>) {
  const session = bench.session(renew);
  const [input] = await session.add(source).catch(() => []);
  const reading = input && (await readInput(session, input.url).catch(() => undefined));
  expect(reading?.isClean === true && reading.status === 200).toBe(false);
  expect(session.allReceived()).toBe(false);
  return session.failure;
}

describe('segments of a playlist', () => {
  it('are joined into one stream, complete when all were read', async () => {
    const { session, body, isClean } = await read(hls(...segments(ts)));
    expect(isClean).toBe(true);
    expect(body.length).toBe(Buffer.concat(ts).length);
    expect(session.allReceived()).toBe(true);
  });

  it.each([
    ['a PNG of one pixel', onePixel],
    ['the signature of a PNG alone', onePixel.subarray(0, 8)],
    ['the header of a BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(52)])],
  ])('are read behind %s', async (_name, image) => {
    const { session, body, isClean } = await read(
      hls(...segments(ts.map((segment) => Buffer.concat([image, segment])))),
    );
    expect({ isClean, bytes: body.length }).toEqual({ isClean: true, bytes: Buffer.concat(ts).length });
    expect(session.allReceived()).toBe(true);
  });

  it('are damaged if only an image is there', async () => {
    expect(await failureOf(hls(...segments([onePixel])))).toMatchObject({ code: 'upstream_error' });
  });

  it('are measured in seconds of audio and video', async () => {
    const session = bench.session();
    const [input] = await session.add(hls(...segments(ts)));
    expect(input?.lengths).toBeNull();
    expect(input?.statedSeconds).toBe(4);
    await readInput(session, input?.url ?? '');
    expect(input?.lengths?.video).toBeCloseTo(3.96, 1);
    expect(input?.lengths?.audio).toBeGreaterThan(3.7);
  });

  it('may be byte ranges of one file, with the initialisation in it', async () => {
    const url = put(Buffer.concat([init, ...fmp4]));
    const ranges = fmp4.flatMap(({ length }) => ['#EXTINF:1.0,', `#EXT-X-BYTERANGE:${length}`, url]);
    const map = `#EXT-X-MAP:URI="${url}",BYTERANGE="${init.length}@0"`;
    const { body, isClean } = await read(hls(map, ...ranges));
    expect(isClean).toBe(true);
    // The edits are in the times.
    const movie = init.subarray(init.indexOf('moov'));
    expect(body.includes(Buffer.from(movie.toString('latin1').replaceAll('edts', 'free'), 'latin1'))).toBe(
      true,
    );
  });

  it('may repeat an initialisation at the start of their file', async () => {
    const url = put(Buffer.concat([init, ...fmp4]));
    const map = `#EXT-X-MAP:URI="${url}",BYTERANGE="${init.length}"`;
    const ranges = fmp4.flatMap(({ length }, index) => {
      const before = Buffer.concat([init, ...fmp4.slice(0, index)]).length;
      return [map, '#EXTINF:1.0,', `#EXT-X-BYTERANGE:${length}@${before}`, url];
    });
    expect((await read(hls(...ranges))).isClean).toBe(true);
  });

  it('are decrypted by sequence number or IV, with changing keys, until METHOD=NONE', async () => {
    const [one, other] = [Buffer.alloc(16, 7), Buffer.alloc(16, 9)];
    const encrypted = (body: Buffer | undefined, key: Buffer, iv: Buffer) => {
      const cipher = createCipheriv('aes-128-cbc', key, iv);
      return put(Buffer.concat([cipher.update(body ?? ''), cipher.final()]));
    };
    const numbered = (sequence: number) => Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
    const { body, isClean } = await read(
      hls(
        '#EXT-X-MEDIA-SEQUENCE:41',
        `#EXT-X-KEY:METHOD=AES-128,URI="${put(one)}"`,
        ...['#EXTINF:1.0,', encrypted(ts[0], one, numbered(41))],
        `#EXT-X-KEY:METHOD=AES-128,URI="${put(other)}",IV=0x0000000000000000000000000000abcd`,
        ...['#EXTINF:1.0,', encrypted(ts[1], other, numbered(0xabcd))],
        `#EXT-X-KEY:METHOD=AES-128,URI="data:application/octet-stream;base64,${one.toString('base64')}"`,
        ...['#EXTINF:1.0,', encrypted(ts[2], one, numbered(43))],
        ...['#EXT-X-KEY:METHOD=NONE', ...segments(ts.slice(3))],
      ),
    );
    expect(isClean).toBe(true);
    expect(body.length).toBe(Buffer.concat(ts).length);
  });

  it.each([
    ['with zeros', (body: Buffer) => Buffer.concat([body, Buffer.alloc(-body.length & 15)])],
    // Four packets fill whole blocks.
    ['nothing', (body: Buffer) => body.subarray(0, body.length - (body.length % (4 * 188)))],
  ])('are decrypted if the packager pads %s', async (_what, prepared) => {
    const [key, iv] = [Buffer.alloc(16, 7), Buffer.alloc(16, 1)];
    const encrypted = ts.map((body) => {
      const cipher = createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false);
      return Buffer.concat([cipher.update(prepared(body)), cipher.final()]);
    });
    const line = `#EXT-X-KEY:METHOD=AES-128,URI="${put(key)}",IV=0x${iv.toString('hex')}`;
    const { body, isClean } = await read(hls(line, ...segments(encrypted)));
    expect(isClean).toBe(true);
    expect(body.length % 188).toBe(0);
    expect(body.length).toBeGreaterThan(Buffer.concat(ts).length * 0.9);
  });

  it('of packed audio lose their tags, which state their start time', async () => {
    const frame = Buffer.from(
      'PRIV\0\0\0\x35\0\0com.apple.streaming.transportStreamTimestamp\0\0\0\0\0\0\x0d\xbb\xa0',
      'latin1',
    );
    const tag = Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, frame.length]), frame]);
    const half = adtsFrames(aac).slice(0, 40);
    const rest = adtsFrames(aac).slice(40);
    const session = bench.session();
    const [input] = await session.add(
      hls(...segments([Buffer.concat([tag, ...half]), Buffer.concat([tag, ...rest])], '2')),
    );
    const { body, isClean } = await readInput(session, input?.url ?? '');
    expect(isClean).toBe(true);
    expect(body.equals(aac)).toBe(true);
    expect(input?.startSeconds).toBe(10);
    expect(input?.lengths?.audio).toBeCloseTo((adtsFrames(aac).length * 1024) / 44_100, 3);
  });

  it('of Ogg are the slices of one stream', async () => {
    const { session, body, isClean } = await read(hls(...segments(ogg)));
    expect(isClean).toBe(true);
    expect(body.equals(Buffer.concat(ogg))).toBe(true);
    expect(session.allReceived()).toBe(true);
  });

  it('of MP3 lose the frame that only describes a file', async () => {
    const file = await readFile(await media('sound.mp3'));
    const sound = file.subarray(id3TagBytes(file));
    const first = readMp3FrameHeader(sound.readUInt32BE())?.sizeBytes ?? 0;
    const { body, isClean } = await read(hls(...segments([sound, sound])));
    expect(isClean).toBe(true);
    const frames = sound.subarray(first);
    expect(body.equals(Buffer.concat([frames, frames]))).toBe(true);
  });

  it.each(['end.mp4', 'front.mp4', 'sound.flac', 'opus.webm'])(
    'that are each a complete %s are rejected permanently',
    async (name) => {
      const file = await readFile(await media(name));
      const failure = await failureOf(hls(...segments([file, file])));
      expect(failure).toMatchObject({
        code: 'no_media',
        message: expect.stringContaining('starts again') as string,
      });
    },
  );

  it('that are each a complete Ogg file are not joined', async () => {
    const whole = Buffer.concat(ogg);
    expect((await failureOf(hls(...segments([whole, whole]))))?.code).toBe('no_media');
  });

  it('exclude the ads that Anvato and Uplynk mark', async () => {
    const advertisement = (index: number) => put(aac.subarray(index));
    const [first = '', one = '', ...rest] = segments(ts);
    const anvato = hls(
      ...['#ANVATO-SEGMENT-INFO:type=ad', '#EXTINF:5.0,', advertisement(0), '#EXTINF:5.0,', advertisement(7)],
      ...['#ANVATO-SEGMENT-INFO:type=master', first, one, '#ANVATO-SEGMENT-INFO:type=ad', '#EXTINF:5.0,'],
      ...[advertisement(1), '#ANVATO-SEGMENT-INFO:type=master', ...rest],
    );
    const uplynk = hls(
      ...['#UPLYNK-SEGMENT:1,00000000,ad', '#EXTINF:5.0,', advertisement(2)],
      ...['#UPLYNK-SEGMENT:2,00000000,segment', first, one, ...rest],
    );
    for (const source of [anvato, uplynk]) {
      const session = bench.session();
      const [input] = await session.add(source);
      expect(input?.statedSeconds).toBe(4);
      const { body, isClean } = await readInput(session, input?.url ?? '');
      expect(isClean).toBe(true);
      expect(body.length).toBe(Buffer.concat(ts).length);
    }
  });

  it('keep their sequence numbers when ads are skipped, since a number may be the IV', async () => {
    const secret = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
    const encrypted = ts.map((body, index) => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(index + 1, 12);
      const cipher = createCipheriv('aes-128-cbc', secret, iv);
      return Buffer.concat([cipher.update(body), cipher.final()]);
    });
    const { body, isClean } = await read(
      hls(
        ...[`#EXT-X-KEY:METHOD=AES-128,URI="${put(secret)}"`, '#ANVATO-SEGMENT-INFO:type=ad', '#EXTINF:5.0,'],
        ...[put(aac), '#ANVATO-SEGMENT-INFO:type=master', ...segments(encrypted)],
      ),
    );
    expect(isClean).toBe(true);
    expect(body.length).toBe(Buffer.concat(ts).length);
  });

  it('survive a broken connection', async () => {
    let isBroken = false;
    bench.on('/breaks.ts', (_request, response) => {
      response.writeHead(200, { 'content-length': ts[1]?.length });
      if (isBroken) response.end(ts[1]);
      else response.write(ts[1]?.subarray(0, 5000), () => response.socket?.destroySoon());
      isBroken = true;
    });
    const list = segments(ts);
    list[3] = `${bench.site}/breaks.ts`;
    const { body, session } = await read(hls(...list));
    expect(body.length).toBe(Buffer.concat(ts).length);
    expect(session.allReceived()).toBe(true);
  });

  it('have the link for themselves at the beginning', async () => {
    const [first = Buffer.alloc(0), ...others] = ts;
    let finish: () => void = () => undefined;
    bench.on('/first.ts', (_request, response) => {
      response.writeHead(200, { 'content-length': first.length }).write(first.subarray(0, -188));
      finish = () => response.end(first.subarray(-188));
    });
    const second = new URL(put(others[0] ?? ''));
    const session = bench.session();
    const list = ['#EXTINF:1.0,', `${bench.site}/first.ts`, '#EXTINF:1.0,', second.href];
    const [input] = await session.add(hls(...list));
    // Anything that was requested has arrived by the time of this response.
    await fetch(put('later'));
    expect(bench.requests.map(({ path }) => path)).not.toContain(second.pathname);
    finish();
    const { body } = await readInput(session, input?.url ?? '');
    expect(body.length).toBe(first.length + (others[0]?.length ?? 0));
  });

  it('are requested from new URLs after they expire, continuing with the same segment', async () => {
    const expired = segments(ts.slice(0, 2)).concat([
      '#EXTINF:1.0,',
      put('no', 403),
      '#EXTINF:1.0,',
      put('no', 403),
    ]);
    let renewals = 0;
    const { body, session } = await read(hls(...expired), () => {
      renewals += 1;
      return Promise.resolve(hls(...segments(ts)));
    });
    expect(body.length).toBe(Buffer.concat(ts).length);
    expect(renewals).toBe(1);
    expect(session.allReceived()).toBe(true);
  });

  it('fail when the new playlist describes other media', async () => {
    const renew = () => Promise.resolve(hls(...segments(ts.slice(0, 2))));
    const failure = await failureOf(hls('#EXTINF:1.0,', put('no', 403)), renew);
    expect(failure?.message).toContain('changed the list');
  });
});

/** ADTS frames by the lengths in their headers. */
function adtsFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
    frames.push(bytes.subarray(at, at + size));
    at += size;
  }
  return frames;
}

describe('a master playlist', () => {
  const master = (...lines: string[]): MediaSource => ({
    url: put(['#EXTM3U', ...lines, ''].join('\n')),
    headers: {},
    kind: 'hls',
  });

  it('uses its best variant up to 1080p', async () => {
    const variant = (bandwidth: number, size: string, bodies: readonly Buffer[]) => [
      `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${size}`,
      put(vod(...segments(bodies))),
    ];
    const { body } = await read(
      master(
        ...variant(1, '640x360', ts.slice(0, 1)),
        ...variant(2, '1920x1080', ts),
        ...variant(3, '3840x2160', []),
      ),
    );
    expect(body.length).toBe(Buffer.concat(ts).length);
  });

  it.each([
    ['stated as the default', 'DEFAULT=NO', 'DEFAULT=YES'],
    ['not an audio description', 'CHARACTERISTICS="public.accessibility.describes-video"', 'DEFAULT=NO'],
  ])('results in two inputs if audio is separate, the second being %s', async (_, other, wanted) => {
    const session = bench.session();
    const inputs = await session.add(
      master(
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="One, two",${other},URI="${put('x', 404)}"`,
        `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="One, two",${wanted},URI="${put(vod(...segments([aac], '4')))}"`,
        `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="a",NAME="x",DEFAULT=YES,URI="${put('x', 404)}"`,
        '#EXT-X-STREAM-INF:BANDWIDTH=2,AUDIO="a"',
        put(vod(...segments(ts))),
      ),
    );
    expect(inputs).toHaveLength(2);
    expect((await readInput(session, inputs[1]?.url ?? '')).body.equals(aac)).toBe(true);
    session.close();
  });

  it('must not refer to another master playlist', async () => {
    const nested = put('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://x.example/\n');
    expect((await failureOf(master('#EXT-X-STREAM-INF:BANDWIDTH=1', nested)))?.code).toBe('upstream_error');
  });
});

describe('a playlist with variables is rejected without requesting their URLs, if', () => {
  const define = '#EXT-X-DEFINE:NAME="x",VALUE="y"';
  const variant = ['#EXT-X-STREAM-INF:BANDWIDTH=1', 'http://x.example/'];
  const at = (url: string): MediaSource => ({ url, headers: {}, kind: 'hls' });

  it.each<[string, () => MediaSource]>([
    ['it defines them', () => hls(define, ...segments(ts))],
    ['it imports them', () => hls('#EXT-X-DEFINE:IMPORT="x"', ...segments(ts))],
    ['it uses them in a URL', () => hls(...segments(ts), '#EXTINF:1.0,', `${bench.site}/{$x}.ts`)],
    ['it uses them in an attribute', () => hls('#EXT-X-MAP:URI="{$x}"', ...segments(ts))],
    ['its master playlist defines them', () => at(put(['#EXTM3U', define, ...variant].join('\n')))],
    ['its master playlist uses them', () => at(put(['#EXTM3U', variant[0], '{$x}.m3u8'].join('\n')))],
    ['yt-dlp left them in its URL', () => at(`${bench.site}/{$x}.m3u8`)],
    ['yt-dlp left them in its URL, encoded', () => at(`${bench.site}/%7B$x%7D.m3u8`)],
    ['yt-dlp left them in its host', () => at('http://{$x}/index.m3u8')],
  ])('%s', async (_where, sourceOf) => {
    expect(await failureOf(sourceOf())).toMatchObject({
      code: 'no_media',
      message: expect.stringContaining('uses variables in its playlist') as string,
    });
    expect(bench.requests.filter(({ path }) => /(?:\{|%7b)\$/i.test(path))).toEqual([]);
  });
});

describe('a playlist fails if it', () => {
  const key = (attributes: string) => [`#EXT-X-KEY:${attributes}`, '#EXTINF:1.0,', put('x')];

  it.each([
    ['a missing segment', () => ['#EXTINF:1.0,', put('gone', 404)], 'video_not_found'],
    ['a segment at a private address', () => ['#EXTINF:1.0,', 'http://10.0.0.1/0.ts'], 'forbidden_address'],
    ['a segment in the file system', () => ['#EXTINF:1.0,', 'file:///etc/passwd'], 'upstream_error'],
    ['a key at a private address', () => key('METHOD=AES-128,URI="http://[::1]/k"'), 'forbidden_address'],
    ['a key that is too long', () => key(`METHOD=AES-128,URI="${put(Buffer.alloc(17))}"`), 'upstream_error'],
    ['a key that is too short', () => key(`METHOD=AES-128,URI="${put(Buffer.alloc(15))}"`), 'upstream_error'],
    ['invalid padding', () => key(`METHOD=AES-128,URI="${put(Buffer.alloc(16))}"`), 'upstream_error'],
    [
      'an IV that is none',
      () => key(`METHOD=AES-128,IV=12,URI="${put(Buffer.alloc(16))}"`),
      'upstream_error',
    ],
    ['sample encryption', () => key('METHOD=SAMPLE-AES,URI="https://x.example/k"'), 'drm_protected'],
    [
      'a key of a DRM system',
      () => key('METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"'),
      'drm_protected',
    ],
    [
      'a map in the file system',
      () => ['#EXT-X-MAP:URI="file:///etc/passwd"', ...segments(fmp4)],
      'upstream_error',
    ],
    ['an invalid byte range', () => ['#EXT-X-BYTERANGE:x', ...segments(ts)], 'upstream_error'],
    ['an unterminated quote', () => ['#EXT-X-MAP:URI="x', ...segments(fmp4)], 'upstream_error'],
    ['a gap', () => ['#EXT-X-GAP', ...segments(ts)], 'no_media'],
    ['skipped segments', () => ['#EXT-X-SKIP:SKIPPED-SEGMENTS=3', ...segments(ts)], 'no_media'],
    ['key frames only', () => ['#EXT-X-I-FRAMES-ONLY', ...segments(ts)], 'no_media'],
    ['no segments', () => [], 'upstream_error'],
  ])('has %s', async (_what, lines, code) => {
    expect((await failureOf(hls(...lines())))?.code).toBe(code);
  });

  it.each([
    ['has no end, so it is live', '#EXTM3U\n#EXTINF:2,\n0.ts\n', 'live_not_supported'],
    ["isn't a playlist", '<html>Not here</html>', 'upstream_error'],
    ['is too long', `#EXTM3U\n${'#\n'.repeat(1_100_000)}`, 'too_long'],
    ['has too many segments', `#EXTM3U\n${'#EXTINF:1,\nx\n'.repeat(10_001)}#EXT-X-ENDLIST`, 'too_long'],
  ])('%s', async (_what, text, code) => {
    expect((await failureOf({ url: put(text), headers: {}, kind: 'hls' }))?.code).toBe(code);
  });
});

describe('a damaged segment', () => {
  const page = Buffer.from(`<!DOCTYPE html><html><body>${'<p>Not here.</p>'.repeat(400)}</body></html>`);
  const noise = (length: number) =>
    Buffer.from(Array.from({ length }, (_, index) => (index * 7919 + 13) % 251));
  const half = (body: Buffer | undefined, unit = 1) => {
    const whole = body ?? Buffer.alloc(0);
    return whole.subarray(0, Math.floor(whole.length / 2 / unit) * unit);
  };
  const kinds = {
    TS: () => ({ before: [] as string[], good: ts }),
    fMP4: () => ({ before: [`#EXT-X-MAP:URI="${put(init)}"`], good: fmp4 }),
    AAC: () => ({
      before: [] as string[],
      good: [0, 43, 86, 129].map((from) => Buffer.concat(adtsFrames(aac).slice(from, from + 43))),
    }),
    Ogg: () => ({ before: [] as string[], good: ogg }),
  };
  const faults: Readonly<Record<string, (good: Buffer) => Buffer>> = {
    'an HTML page': () => page,
    noise: (good) => noise(good.length),
    nothing: () => Buffer.alloc(0),
    half: (good) => half(good),
    'half, cut between packets': (good) => (good[0] === 0x47 ? half(good, 188) : good.subarray(0, 700)),
  };

  const cases = Object.keys(kinds).flatMap((kind) =>
    Object.keys(faults).flatMap((fault) =>
      [0, 1, 2, 3].flatMap((place) =>
        [false, true].map((isDiscontinuous) => [kind, fault, place, isDiscontinuous] as const),
      ),
    ),
  );

  it.each(cases)(
    '%s: %s in place %d (with discontinuities: %s)',
    async (kind, fault, place, isDiscontinuous) => {
      const { before, good } = kinds[kind as keyof typeof kinds]();
      const bodies = good.map((body, index) => (index === place ? (faults[fault]?.(body) ?? body) : body));
      const lines = segments(bodies, '0.99').flatMap((line) =>
        isDiscontinuous && line.startsWith('#EXTINF') ? ['#EXT-X-DISCONTINUITY', line] : [line],
      );
      expect((await failureOf(hls(...before, ...lines)))?.code).toBe('upstream_error');
    },
  );

  it.each(['TS', 'fMP4'] as const)('%s: half, if the playlist understates every duration', async (kind) => {
    const { before, good } = kinds[kind]();
    const bodies = good.map((body, index) => (index === 1 ? half(body, 188) : body));
    expect((await failureOf(hls(...before, ...segments(bodies, '0.1'))))?.code).toBe('upstream_error');
  });

  it('is not reported for a gap in the recording that its playlist does not count', async () => {
    const { session } = await read(
      hls(...segments([ts[0], ts[1], ts[3]].map((body) => body ?? Buffer.alloc(0)))),
    );
    expect(session.failure).toBeUndefined();
    expect(session.allReceived()).toBe(true);
  });
});

describe("the extractor's overrides of a playlist", () => {
  const key = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
  const iv = Buffer.alloc(16, 7);
  const encrypted = (body: Buffer) => {
    const cipher = createCipheriv('aes-128-cbc', key, iv);
    return Buffer.concat([cipher.update(body), cipher.final()]);
  };
  const asked = (path: string) =>
    bench.requests.filter((request) => request.path.startsWith(path)).map((request) => request.path);

  it('are added to the URLs of segments and keys', async () => {
    const keyPath = new URL(put(key)).pathname;
    const [first = Buffer.alloc(0)] = ts;
    const segmentPath = new URL(put(encrypted(first))).pathname;
    const source = hls(
      `#EXT-X-KEY:METHOD=AES-128,URI="${keyPath}?kept=1",IV=0x${iv.toString('hex')}`,
      ...['#EXTINF:1.0,', `${segmentPath}?token=old`],
    );
    const queries = { segmentQuery: 'token=a%20b&more=1', keyQuery: 'key=1' };
    expect((await read({ ...source, ...queries })).isClean).toBe(true);
    expect(asked(segmentPath)).toEqual([`${segmentPath}?token=a+b&more=1`]);
    expect(asked(keyPath)).toEqual([`${keyPath}?kept=1&key=1`]);
  });

  it('replace the key', async () => {
    const [first = Buffer.alloc(0)] = ts;
    const source = hls('#EXT-X-KEY:METHOD=AES-128,URI="/nowhere"', ...segments([encrypted(first)]));
    const { body, isClean } = await read({ ...source, hlsKey: { url: null, key, iv } });
    expect(isClean).toBe(true);
    expect(body.equals((await read(hls(...segments([first])))).body)).toBe(true);
    const elsewhere = { ...source, hlsKey: { url: put(key), key: null, iv } };
    expect((await read(elsewhere)).isClean).toBe(true);
  });

  it('replace the playlist itself', async () => {
    const source = hls('#EXTINF:1.0,', put('gone', 404));
    const playlistText = vod(...segments(ts.slice(0, 1)));
    expect((await read({ ...source, playlistText })).isClean).toBe(true);
    expect(asked(new URL(source.url).pathname)).toEqual([]);
  });
});

describe('changing initialisations', () => {
  it('are joined if they describe the same encoding', async () => {
    const lines = [`#EXT-X-MAP:URI="${put(init)}"`, ...segments(fmp4.slice(0, 2))];
    const { body, isClean } = await read(hls(...lines, '#EXT-X-DISCONTINUITY', ...lines));
    expect(isClean).toBe(true);
    expect(body.toString('latin1').split('moov').length).toBe(2);
  });

  it('are joined if only bit rates and edits differ', async () => {
    const other = Buffer.from(init);
    const bitRate = other.indexOf('btrt') + 4;
    const shift = other.indexOf('elst') + 16;
    for (const at of [bitRate, bitRate + 4, bitRate + 8, shift])
      other.writeInt32BE(other.readInt32BE(at) + 1, at);
    const map = (body: Buffer) => `#EXT-X-MAP:URI="${put(body)}"`;
    const of = (body: Buffer) => [map(body), ...segments(fmp4.slice(0, 2))];
    const { body, isClean } = await read(hls(...of(init), '#EXT-X-DISCONTINUITY', ...of(other)));
    expect(isClean).toBe(true);
    expect(body.toString('latin1').split('moov').length).toBe(2);
  });

  it('are rejected before the first byte if they do not', async () => {
    const other = await readFile(join(await media('dash-template'), 'init-stream0.m4s'));
    const lines = [`#EXT-X-MAP:URI="${put(init)}"`, ...segments(fmp4.slice(0, 2))];
    const session = bench.session();
    const adding = session.add(
      hls(...lines, '#EXT-X-DISCONTINUITY', `#EXT-X-MAP:URI="${put(other)}"`, ...segments(dash.slice(1))),
    );
    await expect(adding).rejects.toMatchObject({ code: 'no_media' });
    session.close();
  });

  it('are joined for the audio if only the video of an advertisement differs', async () => {
    const other = Buffer.from(init);
    const width = other.indexOf('avc1') + 28;
    other.writeUInt16BE(other.readUInt16BE(width) / 2, width);
    const of = (body: Buffer) => [`#EXT-X-MAP:URI="${put(body)}"`, ...segments(fmp4.slice(0, 2))];
    const source = hls(...of(init), '#EXT-X-DISCONTINUITY', ...of(other));
    const session = bench.session();
    await expect(session.add(source, 'audio')).resolves.toHaveLength(1);
    await expect(session.add(source)).rejects.toMatchObject({ code: 'no_media' });
    session.close();
  });
});

describe('segments of a DASH manifest', () => {
  const wanted = { id: 'v', kind: 'video', bandwidth: null } as const;
  const manifest = (content: string, total = 'PT4S'): MediaSource => ({
    url: put(`<MPD mediaPresentationDuration="${total}"><Period>${content}</Period></MPD>`),
    headers: {},
    kind: 'dash',
    wanted,
  });
  const list = (urls: readonly string[], id = 'v') =>
    [
      `<AdaptationSet mimeType="video/mp4"><Representation id="${id}"><SegmentList duration="1">`,
      `<Initialization sourceURL="${urls[0]}"/>`,
      ...urls.slice(1).map((url) => `<SegmentURL media="${url}"/>`),
      '</SegmentList></Representation></AdaptationSet>',
    ].join('');

  it('are joined into one stream, without events', async () => {
    const { body, isClean, session } = await read(manifest(list(dash.map((part) => put(part)))));
    expect(isClean).toBe(true);
    expect(body.includes(dash[0]?.subarray(-100) ?? '')).toBe(true);
    expect(session.allReceived()).toBe(true);
    const event = makeBox('emsg', [Buffer.alloc(4), Buffer.from('urn:x\x001\x00'), Buffer.alloc(16)]);
    const withEvents = dash.map((part, index) => put(index === 0 ? part : Buffer.concat([event, part])));
    expect((await read(manifest(list(withEvents)))).body.equals(body)).toBe(true);
  });

  it.each([
    ['a missing one', () => put('gone', 404), 'video_not_found'],
    ['one at a private address', () => 'http://169.254.169.254/latest', 'forbidden_address'],
    ['an empty one', () => put(''), 'upstream_error'],
    ['a page', () => put('<html>Not here, and never was.</html>'), 'upstream_error'],
    ['one truncated at a fragment', () => put(dash[2]?.subarray(0, 0) ?? ''), 'upstream_error'],
  ])('fail with %s', async (_what, bad, code) => {
    const urls = dash.map((body) => put(body));
    urls[2] = bad();
    expect((await failureOf(manifest(list(urls))))?.code).toBe(code);
  });

  it('fail when there are too few for the stated duration', async () => {
    const failure = await failureOf(manifest(list(dash.slice(0, 3).map((part) => put(part))), 'PT30S'));
    expect(failure?.message).toContain('fewer segments');
  });

  it.each([
    ['the same ids', 'v', 'v'],
    ['other ids', 'v-1', 'w-1'],
  ])(
    'are joined across periods, each with its own base URL and bandwidth, with %s',
    async (_what, one, other) => {
      const [init = Buffer.alloc(0), ...chunks] = dash;
      const period = (folder: string, id: string, bandwidth: number, bodies: readonly Buffer[]) => {
        for (const [index, body] of [init, ...bodies].entries())
          bench.on(`/put/${folder}/${index}`, (_request, response) => void response.end(body));
        return `<Period duration="PT2S"><BaseURL>/put/${folder}/</BaseURL>
        <AdaptationSet contentType="audio"><Representation id="${id}" bandwidth="${bandwidth}"/></AdaptationSet>
        <AdaptationSet contentType="video"><SegmentTemplate duration="1" initialization="0" media="$Number$"/>
          <Representation id="low" bandwidth="1"/><Representation id="${id}" bandwidth="${bandwidth}"/>
        </AdaptationSet></Period>`;
      };
      const folders = [counter++, counter++].map((number) => `period-${number}`);
      const periods = [
        period(folders[0] ?? '', one, 1000, chunks.slice(0, 2)),
        period(folders[1] ?? '', other, 900, chunks.slice(2, 4)),
      ];
      const url = put(`<MPD mediaPresentationDuration="PT4S">${periods.join('')}</MPD>`);
      const named = { id: one, kind: 'video', bandwidth: 1000 } as const;
      const { body, isClean } = await read({ url, headers: {}, kind: 'dash', wanted: named });
      expect(isClean).toBe(true);
      for (const chunk of chunks) expect(body.includes(chunk.subarray(-100))).toBe(true);
    },
  );

  it('are read if only other tracks of the manifest are protected', async () => {
    const clear = list(dash.map((part) => put(part)));
    const drm =
      '<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"><pssh>AAAA</pssh></ContentProtection>';
    const set = `<AdaptationSet mimeType="video/mp4">${drm}<Representation id="hd" bandwidth="9"/></AdaptationSet>`;
    const representation = `<AdaptationSet mimeType="video/mp4"><Representation id="4k" bandwidth="9">${drm}</Representation></AdaptationSet>`;
    const { body, isClean } = await read(manifest(`${set}${representation}${clear}`));
    expect(isClean).toBe(true);
    expect(body.includes(dash[0]?.subarray(-100) ?? '')).toBe(true);
    expect((await failureOf(manifest(`${set}${representation}`)))?.code).toBe('drm_protected');
    const named = { id: 'hd', kind: 'video', bandwidth: 9 } as const;
    expect((await failureOf({ ...manifest(`${set}${clear}`), wanted: named }))?.code).toBe('drm_protected');
  });

  it.each([
    ['with an index', true],
    ['without an index', false],
  ])('fail permanently if a period plays only a part of its file, %s', async (_what, isIndexed) => {
    const [init = Buffer.alloc(0), ...chunks] = dash;
    // One part of 4 s.
    const fields = [0, 1, 10, 0, 0, 1, 1000, 40, 0].flatMap((value) => [0, 0, value >> 8, value & 255]);
    const index = makeBox('sidx', [Buffer.from(fields)]);
    const file = put(Buffer.concat([init, ...(isIndexed ? [index] : []), ...chunks]));
    const period = (seconds: number) =>
      `<Period duration="PT${seconds}S"><AdaptationSet mimeType="video/mp4"><Representation id="v">
        <BaseURL>${file}?${seconds}</BaseURL></Representation></AdaptationSet></Period>`;
    const source = (first: number, second: number): MediaSource => ({
      url: put(
        `<MPD mediaPresentationDuration="PT${first + second}S">${period(first)}${period(second)}</MPD>`,
      ),
      headers: {},
      kind: 'dash',
      wanted,
    });
    expect(await failureOf(source(2, 4))).toMatchObject({ code: 'no_media' });
    expect(await failureOf(source(4, 2))).toMatchObject({ code: 'no_media' });
    expect((await read(source(4, 4))).isClean).toBe(true);
  });

  it('skip empty periods', async () => {
    const content = list(dash.map((part) => put(part)));
    const url = put(
      [
        '<MPD mediaPresentationDuration="PT4S"><Period start="PT0S"/>',
        `<Period start="PT0S">${content}</Period><Period start="PT4S" duration="PT0S"/>`,
        '<Period xlink:href="urn:mpeg:dash:resolve-to-zero:2013"/></MPD>',
      ].join(''),
    );
    const { isClean, session } = await read({ url, headers: {}, kind: 'dash', wanted });
    expect(isClean).toBe(true);
    expect(session.allReceived()).toBe(true);
  });

  it.each([
    ['is split across several files', '<Period xlink:href="https://x.example/period"/>'],
    [
      'does not say how many segments there are',
      '<Period><AdaptationSet contentType="video"><SegmentTemplate duration="1" media="$Number$"/><Representation id="v"/></AdaptationSet></Period>',
    ],
  ])('fail permanently if the manifest %s', async (_what, periods) => {
    const url = put(`<MPD>${periods}</MPD>`);
    expect((await failureOf({ url, headers: {}, kind: 'dash', wanted }))?.code).toBe('no_media');
  });

  it('are resolved from templates with absolute paths', async () => {
    for (const [index, body] of dash.entries())
      bench.on(`/put/absolute-${index}.m4s`, (_request, response) => void response.end(body));
    const template =
      '<SegmentTemplate duration="1" initialization="/put/absolute-0.m4s" media="/put/absolute-$Number$.m4s"/>';
    const content = `<BaseURL>/d/d/</BaseURL><AdaptationSet contentType="video">${template}<Representation id="v"/></AdaptationSet>`;
    const { isClean } = await read(manifest(content));
    expect(isClean).toBe(true);
  });

  const template = (total: string, duration = '1') => {
    const [name] = [`tail-${counter++}`];
    for (const [index, body] of dash.entries())
      bench.on(`/put/${name}-${index}`, (_request, response) => void response.end(body));
    const media = `<SegmentTemplate duration="${duration}" initialization="/put/${name}-0" media="/put/${name}-$Number$"/>`;
    return manifest(
      `<AdaptationSet contentType="video">${media}<Representation id="v"/></AdaptationSet>`,
      total,
    );
  };

  it('are complete without a last one that only the duration of another track implies', async () => {
    expect((await read(template('PT4.3S'))).isClean).toBe(true);
    expect((await failureOf(template('PT4.8S')))?.code).toBe('video_not_found');
  });

  it('may be shorter than the only duration that their manifest states', async () => {
    expect((await read(template('PT11.4S', '2.9'))).isClean).toBe(true);
  });

  /** Serves the segments as NAME-0 (the initialisation), NAME-1 … @returns the name */
  const numberedSegments = () => {
    const name = `numbered-${counter++}`;
    for (const [index, body] of dash.entries())
      bench.on(`/put/${name}-${index}`, (_request, response) => void response.end(body));
    return name;
  };

  it('fill a last period that states neither its start nor its length', async () => {
    const name = numberedSegments();
    const period = (attributes: string, startNumber: number) =>
      `<Period ${attributes}><AdaptationSet contentType="video">
      <SegmentTemplate duration="1" startNumber="${startNumber}" initialization="/put/${name}-0" media="/put/${name}-$Number$"/>
      <Representation id="v"/></AdaptationSet></Period>`;
    const url = put(
      `<MPD mediaPresentationDuration="PT4S">${period('duration="PT2S"', 1)}${period('', 3)}</MPD>`,
    );
    const { body, isClean } = await read({ url, headers: {}, kind: 'dash', wanted });
    expect(isClean).toBe(true);
    for (const chunk of dash.slice(1)) expect(body.includes(chunk.subarray(-100))).toBe(true);
  });

  it('repeat to the end of a period whose times start later', async () => {
    const name = numberedSegments();
    const timeline = '<SegmentTimeline><S t="9000" d="1000" r="-1"/></SegmentTimeline>';
    const content = `<AdaptationSet contentType="video">
      <SegmentTemplate timescale="1000" presentationTimeOffset="9000" initialization="/put/${name}-0" media="/put/${name}-$Number$">${timeline}</SegmentTemplate>
      <Representation id="v"/></AdaptationSet>`;
    const { body, isClean } = await read(manifest(content));
    expect(isClean).toBe(true);
    for (const chunk of dash.slice(1)) expect(body.includes(chunk.subarray(-100))).toBe(true);
  });

  it('share an initialisation that only their set states', async () => {
    const [first = '', ...others] = dash.map((part) => put(part));
    const content = `<AdaptationSet contentType="video">
      <SegmentList duration="1"><Initialization sourceURL="${first}"/></SegmentList>
      <Representation id="v"><SegmentList>${others.map((url) => `<SegmentURL media="${url}"/>`).join('')}</SegmentList></Representation></AdaptationSet>`;
    const { isClean, session } = await read(manifest(content));
    expect(isClean).toBe(true);
    expect(session.allReceived()).toBe(true);
  });

  it('may be listed by elements with a prefix', async () => {
    const content = list(dash.map((part) => put(part)));
    const plain = `<MPD mediaPresentationDuration="PT4S"><Period>${content}</Period></MPD>`;
    const url = put(plain.replaceAll(/<(\/?)/g, '<$1mpd:'));
    expect((await read({ url, headers: {}, kind: 'dash', wanted })).isClean).toBe(true);
  });

  it('fail when there are none, or when a renewed manifest lists others', async () => {
    expect((await failureOf(manifest('')))?.code).toBe('no_media');
    const renew = () => Promise.resolve(manifest(list(['a', 'b', 'c']), 'PT4S'));
    const [init = '', ...others] = dash.map((part) => put(part));
    const source = manifest(list([init, put('no', 403), ...others]));
    expect((await failureOf(source, renew))?.message).toContain('changed the list');
  });
});
