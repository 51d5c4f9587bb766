import { stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { probe, ProbeError } from '../../src/ffmpeg/probe.js';
import { mediaTools } from '../support/media-tools.js';
import type { MediaTools } from '../../src/ffmpeg/tools.js';
import { readFfprobeReport } from '../../src/parser-process/ffprobe-report.js';
import type { ParserPool } from '../../src/parser-process/parser-pool.js';
import { FileServer } from '../media/support/file-server.js';
import { Samples } from '../media/support/samples.js';
import type { SampleName } from '../media/support/samples.js';
import { startParsers } from '../support/service.js';

let samples: Samples;
let server: FileServer;
let tools: MediaTools;
let parsers: ParserPool;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
  tools = await mediaTools();
  parsers = startParsers();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
  await parsers[Symbol.asyncDispose]();
});

const probeOptions = () => ({
  signal: new AbortController().signal,
  parse: parsers.forClient(''),
  maxMs: 120_000,
});

async function probeSample(name: SampleName): ReturnType<typeof probe> {
  await samples.get(name);
  return probe(tools, `${server.url}/${name}`, probeOptions());
}

describe('probe', () => {
  it('reports duration, codecs and sizes', async () => {
    const found = await probeSample('moov-last.mp4');
    expect(found.durationSeconds).toBeCloseTo(8, 1);
    expect(found.sizeBytes).toBe((await stat(await samples.get('moov-last.mp4'))).size);
    expect(found.formatName).toContain('mp4');
    expect(found.streams).toMatchObject([
      { type: 'video', codec: 'h264', width: 320, height: 180, fps: 25, isCover: false },
      { type: 'audio', codec: 'aac', width: null, fps: null },
    ]);
    expect(found.streams[0]?.bitrateKbps).toBeGreaterThan(0);
  });

  it("reports each track's own duration", async () => {
    const { streams } = await probeSample('short-audio.mkv');
    expect(streams.map(({ durationSeconds }) => Math.round(durationSeconds ?? 0))).toEqual([8, 4]);
  });

  it('rejects garbage without revealing the URL', async () => {
    await writeFile(join(samples.folder, 'garbage.mp4'), Buffer.alloc(100_000, 'garbage '));
    const failed = probe(tools, `${server.url}/garbage.mp4`, probeOptions());
    await expect(failed).rejects.toThrow(ProbeError);
    await expect(failed).rejects.not.toThrow(/127\.0\.0\.1/u);
  });

  it('times out on a server that sends nothing', async () => {
    const mute = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/x`;
    await expect(probe(tools, url, { ...probeOptions(), maxMs: 300 })).rejects.toThrow(
      /didn't arrive within 300 ms/u,
    );
    const abort = new AbortController();
    const aborted = probe(tools, url, { ...probeOptions(), signal: abort.signal });
    abort.abort(new Error('client gone'));
    await expect(aborted).rejects.toThrow('client gone');
    await new Promise((resolve) => mute.close(resolve));
  });

  it('applies rotation to the size, and distinguishes a cover from a video', () => {
    const text = JSON.stringify({
      format: { format_name: 'mov', duration: '5.0' },
      streams: [
        {
          codec_type: 'video',
          codec_name: 'h264',
          width: 1920,
          height: 1080,
          avg_frame_rate: '30000/1001',
          side_data_list: [{ rotation: -90 }],
        },
        {
          codec_type: 'video',
          codec_name: 'mjpeg',
          width: 10,
          height: 10,
          avg_frame_rate: '0/0',
          disposition: { attached_pic: 1 },
        },
        { codec_type: 'data' },
      ],
    });
    expect(readFfprobeReport(text).streams).toMatchObject([
      { width: 1080, height: 1920, fps: 29.97, isCover: false },
      { isCover: true, fps: null },
    ]);
  });

  it.each([
    ['High', 'h264'],
    ['High 10', 'avc1.6e0028'],
    ['High 4:4:4 Predictive', 'avc1.f40028'],
  ])('names the profile of H.264 if few players support it: %s', (profile, codec) => {
    const stream = { codec_type: 'video', codec_name: 'h264', profile, level: 40 };
    const text = JSON.stringify({ format: { format_name: 'mpegts' }, streams: [stream] });
    expect(readFfprobeReport(text).streams[0]?.codec).toBe(codec);
  });

  it.each([
    ['truehd', null],
    ['aac', 4500],
  ])('has no bit rate where only the highest is stated: %s', (codec, kbps) => {
    const stream = { codec_type: 'audio', codec_name: codec, bit_rate: '4500000' };
    const text = JSON.stringify({ format: { format_name: 'matroska,webm' }, streams: [stream] });
    expect(readFfprobeReport(text).streams[0]?.bitrateKbps).toBe(kbps);
  });

  it("takes Matroska's DURATION as the end of a track that starts late", () => {
    const stream = {
      codec_type: 'audio',
      codec_name: 'aac',
      start_time: '0.977000',
      tags: { DURATION: '00:00:05.000000000' },
    };
    const text = JSON.stringify({ format: { format_name: 'matroska,webm' }, streams: [stream] });
    expect(readFfprobeReport(text).streams[0]?.durationSeconds).toBeCloseTo(4.023, 3);
  });

  it("doesn't take Matroska's duration for that of a track of which ffprobe saw little", () => {
    const format = { format_name: 'matroska,webm', duration: '32.000000' };
    const track = { codec_type: 'audio', codec_name: 'aac', duration: '32.000000' };
    const tagged = { ...track, tags: { DURATION: '00:00:22.000000000' } };
    const { streams } = readFfprobeReport(JSON.stringify({ format, streams: [tagged, track] }));
    expect(streams.map(({ durationSeconds }) => durationSeconds)).toEqual([22, null]);
  });

  it("subtracts the first timestamp from Matroska's duration", () => {
    const format = { format_name: 'matroska,webm', start_time: '86399.977000', duration: '86410.000000' };
    expect(readFfprobeReport(JSON.stringify({ format })).durationSeconds).toBeCloseTo(10.023, 3);
  });

  it.each([
    ['a file that counts from zero', 'mov', '86410.000000', 10.023],
    ['a file in fragments', 'mov', '10.023000', 10.023],
    ['FLV', 'flv', '86410.000000', 10.023],
  ])('reports the duration from the first timestamp on: %s', (_what, name, duration, seconds) => {
    const format = { format_name: name, start_time: '86399.977000', duration };
    const stream = { codec_type: 'audio', start_time: '86399.977000', duration: '10.023000' };
    const text = JSON.stringify({ format, streams: name === 'flv' ? [] : [stream] });
    expect(readFfprobeReport(text).durationSeconds).toBeCloseTo(seconds, 3);
  });

  it.each([
    ['a movie header of unknown length', 'mov', '4294967.295', '1/90000'],
    ['a track of unknown length', 'mov', '143165.576500', '1/30000'],
    ['the length of a transport stream whose clock was set back', 'mpegts', '95348.819022', '1/90000'],
  ])('treats %s as unknown', (_what, format_name, duration, time_base) => {
    const stream = { codec_type: 'video', codec_name: 'h264', duration, time_base };
    const text = JSON.stringify({ format: { format_name, duration }, streams: [stream] });
    const found = readFfprobeReport(text);
    expect(found.durationSeconds).toBeNull();
    expect(found.streams[0]?.durationSeconds).toBeNull();
  });

  it.each([
    ['9.720000', 9.9],
    ['4.000000', 4],
  ])('adds the last packet to the audio of a transport stream: %s', (duration, seconds) => {
    const format = { format_name: 'mpegts', start_time: '1.4', duration: '10.0' };
    const audio = { codec_type: 'audio', codec_name: 'aac', start_time: '1.5', duration };
    const { streams } = readFfprobeReport(JSON.stringify({ format, streams: [audio] }));
    expect(streams[0]?.durationSeconds).toBeCloseTo(seconds, 3);
  });
});
