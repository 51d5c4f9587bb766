import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Format } from '../../src/extract/types.js';
import type { MediaTools } from '../../src/ffmpeg/tools.js';
import { mediaTools } from '../support/media-tools.js';
import { Faults, media, sendFile, type Site, startSite } from '@media-services/fault-site';
import { startService, type TestService } from '../support/service.js';
import { expectNotWhole, receive } from './support/receive.js';
import { extraction, format, StreamApp, stopSharedParsers } from './support/stream-app.js';

afterAll(stopSharedParsers);

let site: Site;
let tools: MediaTools;
/** Media tools that don't exist, so that only the site's own file can be sent. */
let noTools: MediaTools;

beforeAll(async () => {
  site = await startSite({ intercept: new Faults().intercept });
  tools = await mediaTools();
  noTools = { ...tools, ffmpeg: '/bin/false', ffprobe: '/bin/false' };
});

afterAll(async () => site[Symbol.asyncDispose]());

const named = (path: string, fields: Partial<Format> = {}): Format =>
  format(`${site.url}${path}`, { ext: 'mp4', ...fields });

const mp3 = (path: string): Format =>
  named(path, { ext: 'mp3', videoCodec: null, hasVideo: false, audioCodec: 'mp3' });

async function app(found: Format, appTools = noTools): Promise<StreamApp> {
  return new StreamApp(appTools, extraction([found])).start();
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe("a stream that is the site's own file", () => {
  it.each([
    ['an MP4', '/media/front.mp4', 'mp4-720', 'video/mp4'],
    ['an MP4 with its index at the end', '/media/end.mp4', 'mp4-1080', 'video/mp4'],
    ['a silent MP4', '/media/silent.mp4', 'mp4-720', 'video/mp4'],
    ['an MP3', '/media/sound.mp3', 'mp3', 'audio/mpeg'],
  ] as const)('is %s byte for byte', async (_, path, target, type) => {
    const silent = path.includes('silent') ? { audioCodec: null, hasAudio: false } : {};
    await using service = await app(target === 'mp3' ? mp3(path) : named(path, silent));
    const source = await readFile(await media(path.slice('/media/'.length)));
    const { status, headers, body, complete } = await receive(service.url(target));
    expect({ status, complete, hash: sha256(body) }).toEqual({
      status: 200,
      complete: true,
      hash: sha256(source),
    });
    expect(headers).toMatchObject({
      'content-type': type,
      'content-length': String(source.length),
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
    });
    expect(headers.etag).toMatch(/^"[\w-]{27}"$/u);
    expect(headers['transfer-encoding']).toBeUndefined();
    // The client may have the last byte before the service has counted it.
    await expect.poll(async () => service.metric('media_stream_bytes_total')).toBe(source.length);
    expect(await service.metric('media_streams_in_flight')).toBe(0);
  });

  it('has the same headers for HEAD and GET', async () => {
    await using service = await app(named('/media/front.mp4'));
    const head = await receive(service.url('mp4-720'), { method: 'HEAD' });
    const get = await receive(service.url('mp4-720'));
    expect(head.body).toHaveLength(0);
    for (const name of ['content-length', 'content-type', 'accept-ranges', 'etag', 'content-disposition'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
  });

  it.each([
    ['bytes=100000-', 100_000, undefined],
    ['bytes=100000-199999', 100_000, 200_000],
    ['bytes=-1000', -1000, undefined],
  ])('supports %s', async (range, start, end) => {
    await using service = await app(named('/media/front.mp4'));
    const source = await readFile(await media('front.mp4'));
    const expected = source.subarray(start, end);
    await receive(service.url('mp4-720'));
    const { status, headers, body, complete } = await receive(service.url('mp4-720'), { headers: { range } });
    expect({ status, complete }).toEqual({ status: 206, complete: true });
    expect(body.equals(expected)).toBe(true);
    expect(headers['content-length']).toBe(String(expected.length));
    expect(headers['content-range']).toMatch(new RegExp(`^bytes \\d+-\\d+/${source.length}$`, 'u'));
  });

  it('is sent whole for multiple ranges', async () => {
    await using service = await app(named('/media/front.mp4'));
    const headers = { range: 'bytes=0-9,20-29' };
    expect((await receive(service.url('mp4-720'), { headers })).status).toBe(200);
  });

  it('rejects a range past its end and states its size', async () => {
    await using service = await app(named('/media/front.mp4'));
    const size = (await readFile(await media('front.mp4'))).length;
    const answer = await receive(service.url('mp4-720'), { headers: { range: `bytes=${size}-` } });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe(`bytes */${size}`);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'range_not_satisfiable' });
  });

  it('reads only the missing bytes from the site when it is resumed', async () => {
    await using service = await app(named('/media/long.mp4'));
    const { headers } = await receive(service.url('mp4-720'), { method: 'HEAD' });
    const before = site.requests.length;
    const ifRange = { 'if-range': headers.etag ?? '' };
    const rest = await receive(service.url('mp4-720'), { headers: { range: 'bytes=2000000-', ...ifRange } });
    expect(rest.status).toBe(206);
    const asked = site.requests.slice(before).map((request) => request.headers.range);
    const last = Number(headers['content-length']) - 1;
    expect(asked).toEqual([`bytes=2000000-${last}`]);
  });

  it('has no ETag if the site has only a weak one, and ignores ranges with If-Range', async () => {
    site.on('/weak.mp4', async (req, res) => {
      const writeHead = res.writeHead.bind(res);
      res.writeHead = ((status: number, headers: Record<string, string>) =>
        writeHead(status, { ...headers, etag: 'W/"1"' })) as typeof res.writeHead;
      await sendFile(req, res, await media('front.mp4'), 'video/mp4');
    });
    await using service = await app(named('/weak.mp4'));
    const { headers } = await receive(service.url('mp4-720'));
    expect(headers.etag).toBeUndefined();
    expect(headers['accept-ranges']).toBe('bytes');
    const asked = { range: 'bytes=1000-', 'if-range': 'W/"1"' };
    expect((await receive(service.url('mp4-720'), { headers: asked })).status).toBe(200);
  });

  it.each([
    ['with If-Range', true],
    ['without If-Range', false],
  ])('is sent whole when the file has changed and the rest is requested %s', async (_, withIfRange) => {
    let version = 'front.mp4';
    const path = `/changing-${String(withIfRange)}.mp4`;
    site.on(path, async (req, res) => sendFile(req, res, await media(version), 'video/mp4'));
    await using service = await app(named(path));
    const first = await receive(service.url('mp4-720'));
    version = '360.mp4';
    const ifRange = withIfRange ? { 'if-range': first.headers.etag ?? '' } : undefined;
    const second = await receive(service.url('mp4-720'), { headers: { range: 'bytes=5000-', ...ifRange } });
    expect(second.status).toBe(200);
    expect(sha256(second.body)).toBe(sha256(await readFile(await media(version))));
  });

  it('is always sent whole when another replica or an earlier process sent the beginning', async () => {
    const headers = { range: 'bytes=5000-' };
    await using replica = await app(named('/media/front.mp4'));
    for (const attempt of ['first', 'second']) {
      const { status } = await receive(replica.url('mp4-720'), { headers });
      expect({ attempt, status }).toEqual({ attempt, status: 200 });
    }
    await receive(replica.url('mp4-720'), { headers: { range: 'bytes=0-1' } });
    expect((await receive(replica.url('mp4-720'), { headers })).status).toBe(206);
  });

  it('shows a truncation to an HTTP/1.0 client', async () => {
    await using service = await app(named('/media/long.mp4?cut=2500000'));
    const { hostname, port, pathname, search } = new URL(service.url('mp4-720'));
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${pathname}${search} HTTP/1.0\r\n\r\n`);
    const chunks: Buffer[] = [];
    await new Promise((resolve) => {
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('error', () => undefined);
      socket.on('close', resolve);
    });
    const answer = Buffer.concat(chunks);
    const body = answer.length - (answer.indexOf('\r\n\r\n') + 4);
    const announced = Number(/content-length: (\d+)/iu.exec(answer.toString('latin1'))?.[1]);
    expect(announced).toBe((await readFile(await media('long.mp4'))).length);
    expect(body).toBeLessThan(announced);
  });
});

it.each([
  ['an MP4', 'front.mp4', 'mp4-720'],
  ['an M4A', 'sound.m4a', 'original'],
] as const)(
  '%s that was cut in its last box, which extends to the end, never looks whole',
  async (_, name, target) => {
    const cut = Buffer.from((await readFile(await media(name))).subarray(0, -20_000));
    cut.writeUInt32BE(0, cut.indexOf('mdat') - 4);
    const path = `/cut-${name}`;
    site.on(path, (_request, response) => {
      response.writeHead(200, { 'content-length': cut.length }).end(cut);
    });
    const fields = target === 'original' ? { ext: 'm4a', videoCodec: null, hasVideo: false } : {};
    await using service = await app(named(path, fields), tools);
    const url = target === 'original' ? `${service.url('mp3')}&fmt=original` : service.url(target);
    expectNotWhole(await receive(url));
  },
);

it.each([
  ['H.264 that fewer players support than the page suggests', '/ten-bit.mp4'],
  ['no audio although the page says so', '/media/silent.mp4'],
])("a stream is the site's file if that has %s", async (_, path) => {
  const content = Buffer.from(await readFile(await media('front.mp4')));
  content.writeUInt8(0x6e, content.indexOf('avcC') + 5);
  site.on('/ten-bit.mp4', (_request, response) => {
    response.writeHead(200, { 'content-length': content.length }).end(content);
  });
  await using service = await app(named(path));
  const { status, headers, complete } = await receive(service.url('mp4-720'));
  expect({ status, complete }).toEqual({ status: 200, complete: true });
  expect(headers['accept-ranges']).toBe('bytes');
});

describe('a stream is generated', () => {
  it.each([
    ["its file isn't MP4", '/media/vp8.webm', {}],
    ['its file is QuickTime with several audio tracks', '/media/front-dubbed.mp4', {}],
    ['its audio differs from the page', '/media/h264-opus.mp4', {}],
    ['its video differs from the page', '/media/hevc.mp4', {}],
    ['its server does not state the length', '/media/front.mp4?chunked&ignoreRange', {}],
  ])('when %s', async (_, path, fields) => {
    await using service = await app(named(path, fields), tools);
    const { status, headers, body, complete } = await receive(service.url('mp4-720'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(headers['accept-ranges']).toBe('none');
    expect(headers['content-length']).toBeUndefined();
    expect(body.indexOf('moof')).toBeGreaterThan(0);
  });

  it("when a file named MP3 isn't one", async () => {
    await using service = await app(mp3('/media/sound.m4a'), tools);
    const { status, body, complete } = await receive(service.url('mp3'));
    expect({ status, complete }).toEqual({ status: 200, complete: true });
    expect(body.toString('latin1', 0, 3)).toBe('ID3');
  });
});

describe('/api/info', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
  });

  afterAll(async () => service[Symbol.asyncDispose]());

  it('reports a file that is sent unchanged, with its exact size', async () => {
    const { body } = await service.info(`${site.url}/watch?media=front.mp4`);
    const { length } = await readFile(await media('front.mp4'));
    expect(body['downloads']).toMatchObject([
      { target: 'mp3', audio: 'transcode' },
      { target: 'mp4-720', video: 'as is', audio: 'as is', exactBytes: length, estimatedBytes: length },
      { target: 'mp4-1080', video: 'as is', audio: 'as is', exactBytes: length },
    ]);
  });

  it('reports what happens to the streams of a generated file', async () => {
    const { body } = await service.info(`${site.url}/watch?media=front-dubbed.mp4`);
    expect(body['downloads']).toMatchObject([
      { target: 'mp3' },
      { target: 'mp4-720', video: 'copy', audio: 'copy', exactBytes: null },
      { target: 'mp4-1080' },
    ]);
  });

  it('reports the exact size of a file that gets a new header', async () => {
    const page = `${site.url}/watch?media=front-qt.mp4`;
    const { body } = await service.info(page);
    const { headers } = await receive(`${service.url}/api/stream/video?url=${encodeURIComponent(page)}`);
    const exactBytes = Number(headers['content-length']);
    expect(exactBytes).toBeGreaterThan(100_000);
    expect(body['downloads']).toMatchObject([
      { target: 'mp3', exactBytes: null },
      { target: 'mp4-720', video: 'copy', audio: 'copy', exactBytes, estimatedBytes: exactBytes },
      { target: 'mp4-1080', exactBytes },
    ]);
  });
});
