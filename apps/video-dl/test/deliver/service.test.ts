import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createGuard } from '@media-services/egress-guard';
import { createLogger, DomainError } from '@media-services/http-common';
import { media, startSite } from '@media-services/fault-site';
import type { Extraction } from '../../src/extract/types.js';
import { MediaRelay } from '../../src/relay/media-relay.js';
import { mediaTools } from '../support/media-tools.js';
import type { MediaTools } from '../../src/ffmpeg/tools.js';
import type { StreamLimits } from '../../src/capacity.js';
import { FileServer } from '../media/support/file-server.js';
import { inspect } from '../media/support/inspect.js';
import type { Inspection } from '../media/support/inspect.js';
import { Samples } from '../media/support/samples.js';
import type { SampleName } from '../media/support/samples.js';
import { startParsers } from '../support/service.js';
import { open, receive } from './support/receive.js';
import { extraction, format, StreamApp, stopSharedParsers } from './support/stream-app.js';

afterAll(stopSharedParsers);

let samples: Samples;
let server: FileServer;
let tools: MediaTools;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
  tools = await mediaTools();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
});

async function address(name: SampleName): Promise<string> {
  await samples.get(name);
  return `${server.url}/${name}`;
}

async function app(found: Extraction, changed: Partial<StreamLimits> = {}): Promise<StreamApp> {
  return new StreamApp(tools, found, changed).start();
}

async function usual(fields: Partial<Extraction> = {}): Promise<Extraction> {
  return extraction([format(await address('h264-aac.mp4'))], { durationSeconds: 8, ...fields });
}

async function inspectBody(body: Buffer, extension: string): Promise<Inspection> {
  const file = join(samples.folder, `body.${extension}`);
  await writeFile(file, body);
  return inspect(file);
}

/** A script that replaces ffmpeg. */
async function fakeFfmpeg(name: string, script: string): Promise<MediaTools> {
  const file = join(samples.folder, name);
  await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { ...tools, ffmpeg: file };
}

describe('a stream', () => {
  it('is an MP4 with every frame of the source and its duration in the first box', async () => {
    await using service = await app(await usual());
    const { status, headers, body, complete } = await receive(service.url('mp4-720'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'none',
      'cache-control': 'no-store',
      'x-content-duration': '8',
      'content-disposition': `attachment; filename="Ein Tast.mp4"; filename*=UTF-8''Ein%20T%C3%A4st.mp4`,
    });
    expect(headers['server-timing']).toMatch(/extract;.*firstByte;/u);
    const [output, source] = [
      await inspectBody(body, 'mp4'),
      await inspect(await samples.get('h264-aac.mp4')),
    ];
    expect(output.streams[0]?.nb_read_frames).toBe(source.streams[0]?.nb_read_frames);
    expect(output.streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac']);
    expect(body.indexOf('mehd')).toBeGreaterThan(0);
    expect(service.relay.sessions.every(({ closed }) => closed)).toBe(true);
  });

  it('does not contain trimmed media', async () => {
    await samples.get('trimmed.mov');
    await using service = await app(extraction([format(`${server.url}/trimmed.mov`, { ext: 'mov' })]));
    const { status, body, complete } = await receive(service.url('mp4-720'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    const source = await inspect(await samples.get('trimmed.mov'));
    const { streams } = await inspectBody(body, 'mp4');
    expect(streams[0]).toMatchObject({ codec_name: 'h264', start_time: 0 });
    expect(streams[0]?.nb_read_frames).toBe(source.streams[0]?.nb_read_frames);
    for (const [index, stream] of streams.entries())
      expect(Math.abs((stream.duration ?? 0) - (source.streams[index]?.duration ?? 0))).toBeLessThan(0.1);
  });

  it('is an MP3 with tag, cover and all of the audio', async () => {
    await using service = await app(await usual({ covers: ['http://page.example/thumb'] }));
    const cover = await readFile(await samples.get('cover.jpg'));
    service.cover = () => Promise.resolve({ bytes: cover });
    const { status, headers, body, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers).toMatchObject({ 'content-type': 'audio/mpeg' });
    expect(headers['content-length']).toBe(String(body.length));
    const output = await inspectBody(body, 'mp3');
    expect(output.format.tags).toMatchObject({ title: 'Ein Täst', artist: 'Someone', TLEN: '8000' });
    expect(output.format.duration).toBeCloseTo(8, 0);
    expect(output.streams.map(({ codec_name }) => codec_name)).toEqual(['mp3', 'mjpeg']);
    expect(output.streams[0]?.bit_rate).toBe(192_000);
    expect(Math.abs(body.length - cover.length - 192_000)).toBeLessThan(192_000 * 0.05);
  });

  it('states its length in the first frame if the source is audio only', async () => {
    const sound = extraction([format(await address('audio.m4a'), { videoCodec: null, hasVideo: false })]);
    await using service = await app(sound);
    const { body, complete } = await receive(service.url('mp3'));
    expect(complete).toBe(true);
    expect(body.indexOf('Info')).toBeGreaterThan(0);
    expect((await inspectBody(body, 'mp3')).format.duration).toBeCloseTo(8, 1);
  });

  it.each([
    ['is broken', () => Promise.reject(new Error('404'))],
    ["isn't an image", () => Promise.resolve({ bytes: Buffer.from('<html>') })],
    ['never arrives', aborted],
  ])('has no cover when the thumbnail %s', async (_, cover) => {
    await using service = await app(await usual({ covers: ['http://page.example/thumb'] }));
    service.cover = cover;
    const { body, complete } = await receive(service.url('mp3'));
    expect(complete).toBe(true);
    expect((await inspectBody(body, 'mp3')).streams).toHaveLength(1);
  });

  it('has the next image as its cover if the best one is missing', async () => {
    await using service = await app(
      await usual({ covers: ['http://page.example/maxres.jpg', 'http://page.example/hq.jpg'] }),
    );
    const cover = await readFile(await samples.get('cover.jpg'));
    const answers = [() => Promise.reject(new Error('404')), () => Promise.resolve({ bytes: cover })];
    service.cover = () => answers.shift()?.() ?? Promise.reject(new Error('asked too often'));
    const { body } = await receive(service.url('mp3'));
    expect(body.includes(cover)).toBe(true);
  });

  it('has a WebP image as a JPEG cover, which HEAD leaves open, without running ffmpeg', async () => {
    const found = await usual({ covers: ['http://page.example/thumb.webp'] });
    await using service = await app(found);
    await using headOnly = await new StreamApp({ ...tools, ffmpeg: '/bin/false' }, found).start();
    const webp = await readFile(await samples.get('cover.webp'));
    for (const each of [service, headOnly]) each.cover = () => Promise.resolve({ bytes: webp });
    const head = await receive(headOnly.url('mp3'), { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBeUndefined();
    expect(Number(head.headers['estimated-content-length'])).toBeGreaterThan(0);
    const { body, complete } = await receive(service.url('mp3'));
    expect(complete).toBe(true);
    const [, cover] = (await inspectBody(body, 'mp3')).streams;
    expect(cover).toMatchObject({ codec_name: 'mjpeg', width: 160, height: 90 });
  });

  it('is joined from separate video and audio', async () => {
    const formats = [
      format(await address('silent.mp4'), { audioCodec: null, hasAudio: false }),
      format(await address('audio.m4a'), { videoCodec: null, hasVideo: false }),
    ];
    await using service = await app(extraction(formats));
    const { body, complete } = await receive(service.url('mp4-1080'));
    expect(complete).toBe(true);
    const { streams } = await inspectBody(body, 'mp4');
    expect(streams.map(({ codec_type }) => codec_type)).toEqual(['video', 'audio']);
    expect(streams[0]?.nb_read_frames).toBe(100);
  });

  it("is complete when the source's audio is shorter than its video", async () => {
    const found = extraction([format(await address('short-audio.mkv'))], { durationSeconds: 8 });
    await using service = await app(found);
    const { status, body, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect((await inspectBody(body, 'mp3')).format.duration).toBeCloseTo(4, 0);
  });

  it('is complete when the page states more than its media has', async () => {
    await using service = await app(await usual({ durationSeconds: 60 }));
    expect((await receive(service.url('mp4-720'))).complete).toBe(true);
  });

  it('responds to HEAD with the headers of GET, without running ffmpeg', async () => {
    const found = await usual({ covers: ['http://page.example/thumb'] });
    await using service = await app(found);
    const without = { ...tools, ffmpeg: '/bin/false', ffprobe: '/bin/false' };
    await using headOnly = await new StreamApp(without, found).start();
    const cover = await readFile(await samples.get('cover.png'));
    for (const app of [service, headOnly]) app.cover = () => Promise.resolve({ bytes: cover });
    for (const target of ['mp3', 'mp4-720'] as const) {
      const head = await receive(headOnly.url(target), { method: 'HEAD' });
      const get = await receive(service.url(target));
      const names = [
        'content-type',
        'content-disposition',
        'accept-ranges',
        'cache-control',
        'content-length',
        'estimated-content-length',
        'x-content-duration',
      ];
      expect(head.status).toBe(200);
      expect(head.body).toHaveLength(0);
      for (const name of names) expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
  });

  it('updates the metrics', async () => {
    await using service = await app(await usual());
    const { body } = await receive(service.url('mp4-720'));
    expect(await service.metric('media_stream_bytes_total')).toBe(body.length);
    expect(await service.metric('media_streams_total{target="mp4-720",end="ok"')).toBe(1);
    expect(await service.metric('media_streams_in_flight')).toBe(0);
  });
});

describe('a stream that fails before its first byte', () => {
  it.each([
    ['the extraction', new DomainError('geo_blocked', 'Not here.'), 451],
    ['the extraction, unexpectedly', new TypeError('x is undefined'), 500],
  ])('is a problem when %s fails', async (_, error, status) => {
    await using service = await app(await usual());
    service.extract = () => Promise.reject(error);
    const answer = await receive(service.url('mp4-720'));
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toContain('application/problem+json');
  });

  it.each(['mp3', 'mp4-720'] as const)('is a problem when the media is garbage (%s)', async (target) => {
    await writeFile(join(samples.folder, 'garbage.mp4'), Buffer.alloc(300_000, 'garbage '));
    await using service = await app(extraction([format(`${server.url}/garbage.mp4`)]));
    const answer = await receive(service.url(target));
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'no_media' });
    expect(answer.body.toString()).not.toContain('127.0.0.1');
  });

  it("reports the relay's failure", async () => {
    await using service = await app(extraction([format(`${server.url}/missing.mp4`)]));
    const answer = receive(service.url('mp4-720'));
    while (service.relay.sessions.length === 0) await new Promise((resolve) => setImmediate(resolve));
    service.relay.sessions[0]?.fail(new DomainError('forbidden_address', 'No.'));
    expect((await answer).status).toBe(403);
  });

  it('is 504 when nothing arrives in time', async () => {
    const found = await usual();
    await using service = await new StreamApp(await fakeFfmpeg('mute', 'exec sleep 60'), found, {
      firstByteTimeoutMs: 200,
    }).start();
    const answer = await receive(service.url('mp4-720'));
    expect(answer.status).toBe(504);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'upstream_timeout', retryable: true });
  });

  it('has a single deadline for its slot and its first byte', async () => {
    const mute = await fakeFfmpeg('mute-too', 'exec sleep 60');
    await using service = await new StreamApp(mute, await usual(), {
      maxConcurrent: 1,
      firstByteTimeoutMs: 8000,
    }).start();
    const leaving = new AbortController();
    const first = receive(service.url('mp3'), { signal: leaving.signal }).catch(() => 'gone');
    while ((await service.metric('media_streams_in_flight')) !== 1)
      await new Promise((resolve) => setImmediate(resolve));
    // Arrives when a separate limit for the first byte would still have most of its time left.
    const tooLate = new Promise((resolve) => setTimeout(resolve, 13_000, 'too late'));
    const second = receive(service.url('mp3')).then(({ status }) => status);
    setTimeout(() => leaving.abort(), 6000);
    await expect(first).resolves.toBe('gone');
    await expect(Promise.race([second, tooLate])).resolves.toBe(504);
  });

  it('is 503 when ffmpeg is killed', async () => {
    await using service = await new StreamApp(
      await fakeFfmpeg('suicidal', 'kill -9 $$'),
      await usual(),
    ).start();
    const answer = await receive(service.url('mp3'));
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBeDefined();
  });

  it('is a problem when ffmpeg exits 0 without output', async () => {
    await using service = await new StreamApp(await fakeFfmpeg('idle', 'exit 0'), await usual()).start();
    expect((await receive(service.url('mp3'))).status).toBe(422);
  });

  it('is 422 when the video is longer than allowed', async () => {
    await using service = await app(await usual({ durationSeconds: 4000 }));
    const answer = await receive(service.url('mp3'));
    expect(answer.status).toBe(422);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'too_long' });
  });

  it.each([
    ['?url=ftp://x/', 400],
    ['?fmt=mp4-720', 400],
    ['?url=http://page.example/&fmt=avi', 400],
    ['?url=http://page.example/&url=http://page.example/', 400],
    ['?url=http://page.example/&unknown=1', 400],
  ])('is 400 for %s', async (query, status) => {
    await using service = await app(await usual());
    const url = service.url('mp4-720').replace(/\?.*/u, query);
    expect((await receive(url)).status).toBe(status);
  });
});

describe('a stream that fails after its first byte', () => {
  it('is reset when upstream fails', async () => {
    await using service = await app(await usual());
    const slow = await fakeFfmpeg('half', `ffmpeg "$@" | head -c 40000; sleep 60`);
    await using cut = await new StreamApp(slow, await usual()).start();
    const { response } = await open(cut.url('mp3'));
    cut.relay.sessions[0]?.fail(new DomainError('upstream_error', 'gone'));
    await expect(drain(response)).resolves.toBe(false);
    expect(await cut.metric('media_streams_total{target="mp3",end="truncated"')).toBe(1);
    expect(await service.metric('media_streams_total')).toBe(0);
  });

  it.each([
    ['exits with an error', `ffmpeg "$@" | head -c 40000; exit 1`],
    ['exits 0 after half', `ffmpeg "$@" | head -c 100000`],
    ['exits 0 in the middle of a frame', `ffmpeg "$@" | head -c 191900`],
  ])('is reset when ffmpeg %s', async (_, script) => {
    const name = script.replaceAll(/\W/gu, '');
    await using service = await new StreamApp(await fakeFfmpeg(name, script), await usual()).start();
    const { status, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: false });
  });

  it('is reset when bytes are missing although everything else looks fine', async () => {
    await using service = await app(await usual());
    service.relay.allReceived = false;
    const { status, complete } = await receive(service.url('mp4-720'));
    expect({ status, complete }).toEqual({ status: 200, complete: false });
  });

  it('is reset when the media is shorter than it states', async () => {
    const whole = await readFile(await samples.get('short-audio.mkv'));
    await writeFile(join(samples.folder, 'cut.mkv'), whole.subarray(0, whole.length * 0.6));
    await using service = await app(extraction([format(`${server.url}/cut.mkv`)]));
    const { complete } = await receive(service.url('mp4-720'));
    expect(complete).toBe(false);
  });

  it('is reset when ffmpeg drops audio because its timestamps overlap', async () => {
    const avi = Buffer.from(await readFile(await samples.get('sound.avi')));
    // Audio at twenty times its speed.
    const rateAt = avi.indexOf('auds') + 24;
    avi.writeUInt32LE(avi.readUInt32LE(rateAt) * 20, rateAt);
    await writeFile(join(samples.folder, 'fast.avi'), avi);
    const found = { videoCodec: 'mpeg4', audioCodec: 'mp3' };
    await using service = await app(extraction([format(`${server.url}/fast.avi`, found)]));
    const { status, complete } = await receive(service.url('mp4-720'));
    expect(status === 200 && complete).toBe(false);
  });

  it('with a stated length never sends its last byte before it is verified', async () => {
    const m4a = Buffer.from(await readFile(await samples.get('audio.m4a')));
    const moov = m4a.indexOf('moov');
    for (let at = moov >> 1; at < moov - 4; at += 1) m4a[at] = (at * at * 31) % 251;
    await writeFile(join(samples.folder, 'bad-end.m4a'), m4a);
    const sound = { videoCodec: null, hasVideo: false };
    await using service = await app(extraction([format(`${server.url}/bad-end.m4a`, sound)]));
    const { status, headers, body, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: false });
    expect(body.length).toBeLessThan(Number(headers['content-length']));
  });

  it('is a complete MP3 if a fragmented MP4 states an unknown length', async () => {
    const file = await readFile(await media('fragments.m4a'));
    // Version and flags, two dates, the timescale, then the length in ticks.
    file.writeUInt32BE(2 ** 32 - 1, file.indexOf('mdhd') + 20);
    await writeFile(join(samples.folder, 'unknown-length.m4a'), file);
    const sound = { videoCodec: null, hasVideo: false };
    await using service = await app(extraction([format(`${server.url}/unknown-length.m4a`, sound)]));
    const { status, body, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    const output = join(samples.folder, 'unknown-length.mp3');
    await writeFile(output, body);
    expect((await inspect(output)).streams[0]?.duration).toBeCloseTo(4, 0);
  });

  it('has no stated length if the file has already proved to state too much', async () => {
    const m4a = Buffer.from(await readFile(await samples.get('audio.m4a')));
    const durationAt = m4a.indexOf('mdhd') + 4 + 16;
    m4a.writeUInt32BE(m4a.readUInt32BE(durationAt) + 10 * 1024, durationAt);
    await writeFile(join(samples.folder, 'states-too-much.m4a'), m4a);
    const sound = { videoCodec: null, hasVideo: false };
    await using service = await app(extraction([format(`${server.url}/states-too-much.m4a`, sound)]));
    const first = await receive(service.url('mp3'));
    expect({ status: first.status, complete: first.complete }).toEqual({ status: 200, complete: false });
    const second = await receive(service.url('mp3'));
    expect({ status: second.status, complete: second.complete }).toEqual({ status: 200, complete: true });
    expect(second.headers['content-length']).toBeUndefined();
  });

  it('reads only the audio of a manifest with separate video', async () => {
    const requests: string[] = [];
    await using site = await startSite({
      intercept: (request) => {
        requests.push(request.url ?? '');
        return Promise.resolve(false);
      },
    });
    const guard = createGuard({ allowedPrivateSources: [site.host] });
    const logger = createLogger({ service: 'test', level: 'silent' });
    await using parsers = startParsers();
    await using relay = await MediaRelay.start({ guard, logger, parsers });
    const manifest = format(`${site.url}/media/hls-master/index.m3u8`, {
      source: { url: `${site.url}/media/hls-master/index.m3u8`, headers: {}, kind: 'hls' },
    });
    await using service = await new StreamApp(tools, extraction([manifest]), {}, relay).start();
    const { status, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(requests.filter((path) => /hls-video/u.test(path))).toEqual([]);
    expect(requests.filter((path) => /hls-audio/u.test(path)).length).toBeGreaterThan(3);
  });

  it('is reset when it exceeds the size limit', async () => {
    await using service = await app(await usual(), { maxOutputBytes: 50_000 });
    const { status, complete, body } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: false });
    expect(body.length).toBeLessThanOrEqual(60_000);
  });

  it.each<[string, Partial<StreamLimits>]>([
    ['upstream is silent', { upstreamIdleTimeoutMs: 200 }],
    ['it takes too long', { totalTimeoutMs: 5000 }],
  ])('is reset when %s', async (_, changed) => {
    const stalling = await fakeFfmpeg('stalling', `ffmpeg "$@" | head -c 40000; sleep 60`);
    await using service = await new StreamApp(stalling, await usual(), changed).start();
    const { status, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: false });
  });

  it('is reset when the client reads nothing', async () => {
    const endless = await fakeFfmpeg('endless', `ffmpeg "$@" ; ffmpeg "$@"; exec cat /dev/zero`);
    const found = extraction([format(await address('short-audio.mkv'))]);
    await using service = await new StreamApp(endless, found, { clientIdleTimeoutMs: 300 }).start();
    const { response } = await open(service.url('mp3'));
    response.pause();
    while ((await service.metric('media_streams_total')) === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(drain(response)).resolves.toBe(false);
  });
});

describe('many streams', () => {
  it('queue, and are rejected when the queue is full', async () => {
    const go = join(samples.folder, 'go');
    const held = await fakeFfmpeg('waiting', `while [ ! -e "${go}" ]; do sleep 0.1; done; exec ffmpeg "$@"`);
    await using service = await new StreamApp(held, await usual()).start();
    let answered = 0;
    const asked = [1, 2, 3, 4, 5].map(() => receive(service.url('mp4-720')).finally(() => (answered += 1)));
    while (answered < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    await writeFile(go, '');
    const answers = await Promise.all(asked);
    const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 503, 503]);
    const refused = answers.find(({ status }) => status === 503);
    expect(JSON.parse(refused?.body.toString() ?? '')).toMatchObject({ code: 'overloaded' });
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(answers.filter(({ status, complete }) => status === 200 && complete)).toHaveLength(3);
  });

  it('release their place when their client leaves the queue', async () => {
    const slow = await fakeFfmpeg('sleeping', `exec sleep 60`);
    await using service = await new StreamApp(slow, await usual(), { maxConcurrent: 1 }).start();
    const [first, second] = [new AbortController(), new AbortController()];
    const running = receive(service.url('mp3'), { signal: first.signal }).catch(() => 'gone');
    while ((await service.metric('media_streams_in_flight')) !== 1)
      await new Promise((resolve) => setImmediate(resolve));
    const queued = receive(service.url('mp3'), { signal: second.signal }).catch(() => 'gone');
    while ((await service.metric('media_streams_queued')) !== 1)
      await new Promise((resolve) => setImmediate(resolve));
    second.abort();
    await expect(queued).resolves.toBe('gone');
    while ((await service.metric('media_streams_queued')) !== 0)
      await new Promise((resolve) => setImmediate(resolve));
    first.abort();
    await expect(running).resolves.toBe('gone');
    while ((await service.metric('media_streams_in_flight')) !== 0)
      await new Promise((resolve) => setImmediate(resolve));
  });
});

/** A fetch that gets no response. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
}

/** Reads to the end. @returns whether it ended cleanly */
function drain(response: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    response.on('error', () => resolve(false));
    response.on('close', () => resolve(response.complete));
    response.resume();
  });
}
