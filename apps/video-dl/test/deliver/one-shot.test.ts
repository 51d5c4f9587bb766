import { readFile } from 'node:fs/promises';
import { media, startSite, type Site } from '@media-services/fault-site';
import { mediaTools } from '../support/media-tools.js';
import { startService, type TestService } from '../support/service.js';
import { receive } from './support/receive.js';
import { extraction, format as formatAt, StreamApp, stopSharedParsers } from './support/stream-app.js';

afterAll(stopSharedParsers);

/** Podcast hosts insert other advertisements into each response, and often ignore ranges. */
describe('a file that differs with each response', () => {
  let site: Site;
  let service: TestService;
  let sent: Buffer[];
  /** How much of each response arrives before its connection breaks. */
  let share: number;

  const serve = (path: string, versionOf: (number: number) => Buffer, ownShare = 1) =>
    site.on(path, (request, response) => {
      const content = versionOf(sent.length);
      sent.push(content);
      const range = path.includes('ranges') ? /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') : null;
      const start = Number(range?.[1] ?? 0);
      const end = Math.min(Number(range?.[2] || Infinity), content.length - 1);
      response.writeHead(range === null ? 200 : 206, {
        'content-type': path.includes('mp3') ? 'audio/mpeg' : 'audio/mp4',
        'content-length': end - start + 1,
        ...(range !== null && { 'content-range': `bytes ${start}-${end}/${content.length}` }),
      });
      const body = content.subarray(start, end + 1);
      const arriving = Math.min(share, ownShare);
      if (arriving === 1) response.end(body);
      else response.write(body.subarray(0, body.length * arriving), () => response.destroy());
    });

  beforeAll(async () => {
    site = await startSite();
    const [sound, end] = await Promise.all(
      ['long.mp3', 'end.mp4'].map(async (name) => readFile(await media(name))),
    );
    if (sound === undefined || end === undefined) throw new Error('the media exist');
    const front = await readFile(await media('long-sound.m4a'));
    // 128 kbit/s at 44.1 kHz: frames of 417 or 418 bytes.
    const frames = sound.subarray(sound.indexOf(Buffer.from([0xff, 0xfb])));
    const withAdvertisement = (number: number) =>
      Buffer.concat([frames.subarray(0, 60_000 + 2_000 * number), frames]);
    const withPadding = (content: Buffer) => (number: number) => {
      const free = Buffer.alloc(100 + number);
      free.writeUInt32BE(free.length);
      free.write('free', 4, 'latin1');
      return Buffer.concat([content, free]);
    };
    serve('/whole.mp3', withAdvertisement);
    serve('/ranges.mp3', withAdvertisement);
    serve('/cut.mp3', withAdvertisement, 0.5);
    serve('/whole.m4a', withPadding(front));
    serve('/ranges.m4a', withPadding(front));
    serve('/end.mp4', withPadding(end));
    const short = await readFile(await media('sound.m4a'));
    serve('/lengths.m4a', (number) => (number < 2 ? front : short));
    serve('/ranges-lengths.m4a', (number) => (number % 2 === 0 ? front : short));
    service = await startService({ ALLOWED_PRIVATE_SOURCES: site.host });
  });
  beforeEach(() => {
    sent = [];
    share = 1;
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await site.close();
  });

  it.each([
    ['/whole.mp3', {}],
    ['/ranges.mp3', {}],
    ['/whole.mp3', { fmt: 'original' }],
    ['/whole.m4a', { fmt: 'original' }],
    ['/ranges.m4a', { fmt: 'original' }],
  ])('is passed on from one response: %s %j', async (path, query) => {
    const page = `${site.url}${path}`;
    expect(await service.info(page)).toMatchObject({ status: 200 });
    const response = await service.get('/api/stream', { url: page, ...query });
    expect(response.status).toBe(200);
    const body = Buffer.from(await response.arrayBuffer());
    expect(response.headers.get('content-length')).toBe(String(body.length));
    expect(response.headers.get('accept-ranges')).toBe('none');
    expect(sent.some((content) => content.equals(body))).toBe(true);
  });

  it.each(['/whole.m4a', '/ranges.m4a'])('is converted from one response: %s', async (path) => {
    const page = `${site.url}${path}`;
    await service.info(page);
    const response = await service.get('/api/stream', { url: page });
    expect(response.status).toBe(200);
    const body = Buffer.from(await response.arrayBuffer());
    // 61.7 s at 192 kbit/s.
    expect(body.length).toBeGreaterThan(1_450_000);
    expect(body.length).toBeLessThan(1_520_000);
  });

  it("fails with its server's error if it breaks off in its header", async () => {
    const page = `${site.url}/whole.m4a`;
    await service.info(page);
    share = 0.001;
    const response = await service.get('/api/stream', { url: page });
    expect(await response.json()).toMatchObject({ status: 502, code: 'upstream_error' });
  });

  it('is converted from one response even if it has another length than before', async () => {
    const page = `${site.url}/lengths.m4a`;
    await service.info(page);
    const response = await service.get('/api/stream', { url: page });
    expect(response.status).toBe(200);
    // 4 s at 192 kbit/s.
    const { byteLength } = await response.arrayBuffer();
    expect(byteLength).toBeGreaterThan(94_000);
    expect(byteLength).toBeLessThan(100_000);
  });

  it('is converted from one response if the length of each differs from the one before', async () => {
    const response = await service.get('/api/stream', { url: `${site.url}/ranges-lengths.m4a` });
    expect({ status: response.status, length: response.headers.get('content-length') }).toEqual({
      status: 200,
      length: null,
    });
    const seconds = sent.length % 2 === 0 ? 4 : 61.7;
    const { byteLength } = await response.arrayBuffer();
    expect(byteLength / 24_000).toBeGreaterThan(seconds - 0.1);
    expect(byteLength / 24_000).toBeLessThan(seconds + 1.7);
  });

  it.each(['/whole.mp3', '/ranges.mp3'])(
    'is passed on in the first request, of a page that states all: %s',
    async (path) => {
      const format = { ext: 'mp3', videoCodec: null, hasVideo: false, audioCodec: 'mp3' };
      const found = extraction([formatAt(`${site.url}${path}`, format)]);
      await using app = await new StreamApp(await mediaTools(), found).start();
      const { status, complete, body } = await receive(app.url('mp3'));
      expect({ status, complete }).toEqual({ status: 200, complete: true });
      expect(sent.some((content) => content.equals(body))).toBe(true);
    },
  );

  it.each(['/whole.mp3', '/ranges.mp3', '/whole.m4a'])('is cut from one response: %s', async (path) => {
    const response = await service.get('/api/stream', { url: `${site.url}${path}`, start: '2', end: '4' });
    expect(response.status).toBe(200);
    // 2 s at 192 kbit/s.
    const { byteLength } = await response.arrayBuffer();
    expect(byteLength).toBeGreaterThan(46_000);
    expect(byteLength).toBeLessThan(51_000);
  });

  it('is never sent as a whole if the response ends early', async () => {
    const page = `${site.url}/cut.mp3`;
    const read = async () => {
      const response = await service.get('/api/stream', { url: page });
      return response.status === 200 ? response.arrayBuffer() : Promise.reject(new Error('rejected'));
    };
    await expect(read()).rejects.toThrow();
    await expect(read()).rejects.toThrow();
  });

  it('is rejected if its index is at its end', async () => {
    const page = `${site.url}/end.mp4`;
    const read = async () => service.get('/api/stream', { url: page });
    await read();
    const response = await read();
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'no_media' });
  });
});
