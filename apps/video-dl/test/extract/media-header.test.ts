import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { readMp4Header } from '../../dist/extract/media-header.js';
import { probe } from '../../dist/ffmpeg/probe.js';
import { locateMediaTools } from '../../dist/ffmpeg/tools.js';
import { media } from '@media-services/fault-site';

const signal = new AbortController().signal;

/** As a server sends it, in pieces that end anywhere. */
function lookAt(content: Buffer): ReturnType<typeof readMp4Header> {
  const chunks = Readable.from(pieces(content));
  return readMp4Header({ chunks, sizeBytes: content.length });
}

function* pieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 16_000) yield content.subarray(at, at + 16_000);
}

describe('readMp4Header', () => {
  let server: Server;
  let content: Buffer;
  let address: string;

  beforeAll(async () => {
    server = createServer((_req, res) =>
      res.writeHead(200, { 'content-length': content.length }).end(content),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/medium`;
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  it.each(['front.mp4', '1080.mp4', 'portrait.mp4', 'silent.mp4', 'hevc.mp4', 'h264-opus.mp4', 'sound.m4a'])(
    'sees in %s what ffprobe sees',
    async (name) => {
      content = await readFile(await media(name));
      const seen = await lookAt(content);
      const probed = await probe(await locateMediaTools(), address, { signal, maxMs: 10_000 });
      expect(seen?.sizeBytes).toBe(content.length);
      expect(Math.abs((seen?.durationSeconds ?? 0) - (probed.durationSeconds ?? 0))).toBeLessThan(0.05);
      const facts = (streams = probed.streams) =>
        streams.map(({ type, codec, width, height, fps }) => ({ type, codec, width, height, fps }));
      expect(facts(seen?.streams)).toEqual(facts());
      for (const [index, { bitrateKbps }] of probed.streams.entries()) {
        const difference = (seen?.streams[index]?.bitrateKbps ?? 0) - (bitrateKbps ?? 0);
        expect(Math.abs(difference)).toBeLessThanOrEqual((bitrateKbps ?? 0) * 0.02);
      }
    },
  );

  it.each(['end.mp4', 'vp9.webm', 'h264.mkv', 'sound.mp3', 'cover.jpg'])(
    'leaves %s to ffprobe',
    async (name) => {
      content = await readFile(await media(name));
      await expect(lookAt(content)).resolves.toBeUndefined();
    },
  );

  it('leaves fragmented files to ffprobe, whose header has no length', async () => {
    content = await readFile(`${await media('hls-fmp4')}/init.mp4`);
    await expect(lookAt(content)).resolves.toBeUndefined();
  });

  it('takes any damaged header for one that it cannot read', async () => {
    const whole = await readFile(await media('front.mp4'));
    for (let damaged = 0; damaged < 200; damaged += 1) {
      content = Buffer.from(whole.subarray(0, 6000));
      content.writeUInt8((damaged * 37) % 256, 32 + damaged * 17);
      const seen = await lookAt(content);
      expect(seen === undefined || seen.streams.length > 0).toBe(true);
    }
    content = whole.subarray(0, 500);
    await expect(lookAt(content)).resolves.toBeUndefined();
  });
});
