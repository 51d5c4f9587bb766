import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGuard } from '@media-services/egress-guard';
import { media, sendFile } from '@media-services/fault-site';
import { atNight } from '../../../../proof/vitest/at-night.js';
import { silentLogger } from '../../../../packages/egress-guard/test/support/servers.js';
import { probeBeginning } from '../../src/look/media-header.js';
import { SourceHeads } from '../../src/look/source-heads.js';
import { probe } from '../../src/ffmpeg/probe.js';
import { mediaTools } from '../support/media-tools.js';
import { readHead } from '../../src/formats/head.js';
import type { MediaHead } from '../../src/formats/media-head.js';
import type { ParserPool } from '../../src/parser-process/parser-pool.js';
import { Upstream } from '../../src/upstream/upstream.js';
import { startParsers } from '../support/service.js';

const signal = new AbortController().signal;

/** The header of a complete file. */
function headOf(content: Buffer, totalBytes: number | null = content.length): MediaHead {
  const step = readHead([{ offset: 0, bytes: content, isEnd: true }], totalBytes);
  if (step.kind === 'need') throw new Error('requests bytes past the end');
  return step;
}

describe('the header of a file', () => {
  let server: Server;
  let parsers: ParserPool;
  let path: string;
  let requests: (string | undefined)[];
  let address: string;
  let deliversParts: boolean;

  beforeEach(() => {
    deliversParts = true;
  });

  beforeAll(async () => {
    parsers = startParsers();
    server = createServer((request, response) => {
      requests.push(request.headers.range);
      if (!deliversParts && !(request.headers.range ?? 'bytes=0-').startsWith('bytes=0-')) {
        response.writeHead(403).end();
        return;
      }
      // The reader leaves once it has what it needs.
      sendFile(request, response, path, 'video/mp4').catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`;
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    await parsers[Symbol.asyncDispose]();
  });

  const heads = () => {
    const guard = createGuard({ allowedPrivateSources: ['127.0.0.1/32'] });
    return new SourceHeads(new Upstream({ guard, logger: silentLogger }), parsers);
  };
  const source = () => ({ url: address, headers: {}, kind: 'file' }) as const;

  it.each([
    ...['front.mp4', 'end.mp4', 'hdr.mp4', 'sound.m4a', 'long.mov'],
    ...['long.mp3', 'vbr.mp3', 'sound.flac', 'sound.wav', 'long.ogg', 'vp9.webm', 'h264.mkv', 'film.avi'],
    ...atNight([
      ...['1080.mp4', 'portrait.mp4', 'silent.mp4', 'hevc.mp4', 'h264-opus.mp4'],
      ...['sound.mp3', 'sound.ogg', 'opus.webm', 'flac.mkv'],
    ]),
  ])('reports the same as ffprobe for %s, from what two requests read', async (name) => {
    path = await media(name);
    requests = [];
    const read = await heads().withBytes(source(), { signal, client: '' });
    const options = { signal, parse: parsers.forClient(''), maxMs: 120_000 };
    const found = read.head.probe ?? (await probeBeginning(await mediaTools(), read, options));
    expect(requests.length).toBeLessThanOrEqual(2);
    const probed = await probe(await mediaTools(), address, options);
    expect(read.head.totalBytes).toBe((await readFile(path)).length);
    expect(Math.abs((found?.durationSeconds ?? 0) - (probed.durationSeconds ?? 0))).toBeLessThan(0.05);
    const facts = (streams = probed.streams) =>
      streams.map(({ type, codec, width, height, fps, hdr }) => ({ type, codec, width, height, fps, hdr }));
    expect(facts(found?.streams)).toEqual(facts());
    expect(found?.streams[0]?.hdr).toBe(name === 'hdr.mp4' ? 'pq' : undefined);
    for (const [index, { type, bitrateKbps }] of probed.streams.entries()) {
      // Its index states the bit rate of the video.
      if (name === 'film.avi' && type === 'video') continue;
      const difference = (found?.streams[index]?.bitrateKbps ?? 0) - (bitrateKbps ?? 0);
      expect(Math.abs(difference)).toBeLessThanOrEqual((bitrateKbps ?? 0) * 0.02);
    }
  });

  it('names the profile of H.264 if few players support it', async () => {
    const content = Buffer.from(await readFile(await media('front.mp4')));
    content.writeUInt8(0x6e, content.indexOf('avcC') + 5);
    expect(headOf(content).probe?.streams[0]?.codec).toMatch(/^avc1\.6e/u);
  });

  it('is read once for all callers, and again after it was dropped', async () => {
    path = await media('front.mp4');
    requests = [];
    const [shared, same] = [heads(), source()];
    await shared.of(same, { signal, client: 'a' });
    const read = requests.length;
    await shared.of(same, { signal, client: 'b' });
    expect(requests).toHaveLength(read);
    shared.forget([same]);
    await shared.of(same, { signal, client: 'b' });
    expect(requests).toHaveLength(2 * read);
  });

  it.each(['vp9.webm', 'h264.mkv', 'sound.flac', 'cover.jpg'])('leaves %s to ffprobe', async (name) => {
    expect(headOf(await readFile(await media(name))).probe).toBeNull();
  });

  it.each([
    ['sound.mp3', 'mp3'],
    ['front.mp4', 'mp4'],
    ['end.mp4', 'mp4'],
    ['h264.mkv', null],
  ] as const)('says what %s is by its own bytes', async (name, original) => {
    expect(headOf(await readFile(await media(name))).original).toBe(original);
  });

  it('leaves fragmented files to ffprobe, whose header has no length', async () => {
    expect(headOf(await readFile(`${await media('hls-fmp4')}/init.mp4`)).probe).toBeNull();
  });

  it('is that of the beginning if the server delivers only the whole file', async () => {
    path = await media('long.ogg');
    requests = [];
    deliversParts = false;
    const seen = await heads().of(source(), { signal, client: '' });
    expect(requests.length).toBeGreaterThan(1);
    expect(seen).toMatchObject({ correctedLength: null, totalBytes: (await readFile(path)).length });
  });

  it('does not take the length of the first fragment for that of a file of unknown size', async () => {
    const content = await readFile(await media('fragments.mp4'));
    expect(headOf(content).correctedLength).toBeNull();
    expect(headOf(content, null).correctedLength).toEqual({ seconds: null });
    const indexed = await readFile(await media('indexed.m4a'));
    expect(headOf(indexed, null).correctedLength).toBeNull();
  });

  it('detects a truncated MP4', async () => {
    const content = await readFile(await media('front.mp4'));
    expect(() => headOf(content.subarray(0, -1000))).toThrow('a part of it is missing');
    expect(headOf(content.subarray(0, -1000), content.length).original).toBe('mp4');
    expect(headOf(content, content.length + 1).original).toBe('mp4');
    expect(headOf(content, null)).toMatchObject({ original: null, probe: { durationSeconds: 4 } });
  });

  it('detects a truncated MP4 whose last box extends to the end, whatever its size', async () => {
    const whole = Buffer.from(await readFile(await media('front.mp4')));
    const mdat = whole.indexOf('mdat') - 4;
    const cut = Buffer.from(whole.subarray(0, -1000));
    whole.writeUInt32BE(0, mdat);
    expect(headOf(whole).original).toBe('mp4');
    for (const size of [0, cut.length - mdat]) {
      cut.writeUInt32BE(size, mdat);
      expect(() => headOf(cut)).toThrow('a part of it is missing');
    }
  });

  it('rejects an MP4 that has lost bytes before its index', async () => {
    const whole = await readFile(await media('end.mp4'));
    const mdat = whole.indexOf('mdat') - 4;
    const cut = Buffer.concat([whole.subarray(0, mdat + 5000), whole.subarray(mdat + 6000)]);
    cut.writeUInt32BE(whole.readUInt32BE(mdat) - 1000, mdat);
    expect(() => headOf(cut)).toThrow('a part of it is missing');
  });

  it('finds samples in several boxes, also in one with a 64-bit size', async () => {
    const whole = await readFile(await media('end.mp4'));
    const mdat = whole.indexOf('mdat') - 4;
    const moov = whole.indexOf('moov') - 4;
    const sizes = Buffer.alloc(16);
    sizes.writeUInt32BE(1);
    sizes.write('mdat', 4, 'latin1');
    sizes.writeBigUInt64BE(BigInt(moov - mdat + 8), 8);
    // ffmpeg reserves these eight bytes.
    const wide = Buffer.concat([whole.subarray(0, mdat - 8), sizes, whole.subarray(mdat + 8)]);
    expect(headOf(wide).original).toBe('mp4');
    const empty = Buffer.from('\0\0\0\u0008mdat', 'latin1');
    const [start, samples, index] = [
      whole.subarray(0, mdat - 8),
      whole.subarray(mdat, moov),
      whole.subarray(moov),
    ];
    expect(headOf(Buffer.concat([start, empty, samples, empty, index])).original).toBe('mp4');
  });

  it('detects truncated audio in fragments with one index', async () => {
    const whole = await readFile(await media('indexed.m4a'));
    expect(headOf(whole).audioFile).toBe('m4a');
    const cuts = [whole.lastIndexOf('mfra') - 14, whole.lastIndexOf('moof') - 4];
    for (const end of cuts) expect(() => headOf(whole.subarray(0, end))).toThrow('a part of it is missing');
  });

  it('supports the index of a film of several hours', async () => {
    const content = await readFile(await media('end.mp4'));
    const start = content.indexOf('moov') - 4;
    const moovBytes = content.readUInt32BE(start);
    const free = Buffer.alloc(20 * 1024 ** 2);
    free.writeUInt32BE(free.length);
    free.write('free', 4, 'latin1');
    const moov = Buffer.concat([content.subarray(start, start + moovBytes), free]);
    moov.writeUInt32BE(moov.length);
    const film = [content.subarray(0, start), moov, content.subarray(start + moovBytes)];
    expect(headOf(Buffer.concat(film)).original).toBe('mp4');
  });

  it('is empty if the file is damaged', async () => {
    const whole = await readFile(await media('front.mp4'));
    for (let damaged = 0; damaged < 200; damaged += 1) {
      const content = Buffer.from(whole.subarray(0, 6000));
      content.writeUInt8((damaged * 37) % 256, 32 + damaged * 17);
      const seen = headOf(content, null);
      expect(seen.probe === null || seen.probe.streams.length > 0).toBe(true);
    }
    expect(headOf(whole.subarray(0, 500), whole.length).probe).toBeNull();
  });
});
