import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { mp3Arguments, mp4Arguments } from '../../src/ffmpeg/arguments.js';
import type { FfmpegInput } from '../../src/ffmpeg/inputs.js';
import type { TrackPlan } from '../../src/ffmpeg/track-plan.js';
import { InputFactsReader } from '../../src/ffmpeg/input-facts.js';
import { mediaTools } from '../support/media-tools.js';
import type { MediaTools } from '../../src/ffmpeg/tools.js';
import { FileServer } from '../media/support/file-server.js';
import { collect, inspect } from '../media/support/inspect.js';
import type { Inspection } from '../media/support/inspect.js';
import { Samples } from '../media/support/samples.js';
import type { SampleName } from '../media/support/samples.js';
import { expectLinearTime } from '../support/expectations.js';

const video = (action: 'copy' | 'transcode', codec = 'h264', maxShortSide = 720): TrackPlan['video'] => ({
  action,
  codec,
  maxShortSide,
});
const audio = (action: 'copy' | 'transcode', codec = 'aac'): TrackPlan['audio'] => ({
  action,
  codec,
});

let samples: Samples;
let server: FileServer;
let tools: MediaTools;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
  // With a number of threads, as in the service.
  tools = await mediaTools({ threads: 2 });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
});

async function input(name: SampleName): Promise<FfmpegInput> {
  await samples.get(name);
  return { url: `${server.url}/${name}` };
}

async function mp4(
  inputs: FfmpegInput[],
  tracks: TrackPlan,
): Promise<{ output: Inspection; facts: InputFactsReader; file: string }> {
  const facts = new InputFactsReader();
  const metadata = { title: '-Title = "x"\n', uploader: 'Someone' };
  const { chunks, exit, stderr } = await collect(mp4Arguments(inputs, tracks, metadata, tools), (line) =>
    facts.readLine(line),
  );
  if (exit.code !== 0) throw new Error(stderr);
  const file = join(samples.folder, 'out.mp4');
  await writeFile(file, Buffer.concat(chunks));
  return { output: await inspect(file), facts, file };
}

describe('the number of threads', () => {
  const inputs: FfmpegInput[] = [{ url: 'http://127.0.0.1/v' }, { url: 'http://127.0.0.1/a' }];
  const tracks = { video: video('transcode'), audio: audio('transcode') };
  const call = (threads: number | undefined) => mp4Arguments(inputs, tracks, { title: 'x' }, { threads });

  it('is set for each decoder, the filters and the encoders', () => {
    const options = call(3).flatMap((word, index, all) =>
      /^-(filter_)?threads$/.test(word) ? [`${word} ${all[index + 1]}`] : [],
    );
    expect(options).toEqual(['-filter_threads 3', '-threads 3', '-threads 3', '-threads 3']);
  });

  it("is ffmpeg's own choice by default", () => {
    expect(call(undefined).join(' ')).not.toContain('threads');
  });
});

describe('a video with a high dynamic range', () => {
  it.each([
    ['pq', 'pq.mp4'],
    ['hlg', 'hlg.mp4'],
  ] as const)('is mapped to BT.709, so that white is light: %s', async (hdr, name) => {
    const { file } = await mp4([await input(name)], {
      video: { action: 'transcode', codec: 'h264', maxShortSide: 720, hdr },
      audio: null,
    });
    const { stdout: light } = await execa(tools.ffmpeg, [
      ...['-v', 'error', '-i', file, '-vf', 'signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-'],
      ...['-frames:v', '1', '-f', 'null', '-'],
    ]);
    expect(Number(/YAVG=([\d.]+)/.exec(light)?.[1])).toBeGreaterThan(200);
    const { stdout: colours } = await execa(tools.ffprobe, [
      ...[
        '-v',
        'error',
        '-of',
        'csv=p=0',
        '-show_entries',
        'stream=color_space,color_transfer,color_primaries',
      ],
      file,
    ]);
    expect(colours).toBe('bt709,bt709,bt709');
  });
});

describe('mp4Arguments', () => {
  it('copies H.264 and AAC, moov in front or at the end', async () => {
    const original = await inspect(await samples.get('h264-aac.mp4'));
    for (const name of ['h264-aac.mp4', 'moov-last.mp4'] as const) {
      const { output, facts } = await mp4([await input(name)], {
        video: video('copy'),
        audio: audio('copy'),
      });
      expect(output.streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac']);
      expect(output.streams[0]?.nb_read_frames).toBe(original.streams[0]?.nb_read_frames);
      expect(output.streams[1]?.duration).toBeCloseTo(original.streams[1]?.duration ?? 0, 1);
      expect(facts.inputs[0]?.durationSeconds).toBeCloseTo(8, 1);
    }
  });

  it('writes any title and artist as data', async () => {
    const { output } = await mp4([await input('h264-aac.mp4')], {
      video: video('copy'),
      audio: audio('copy'),
    });
    expect(output.format.tags).toMatchObject({ title: '-Title = "x"', artist: 'Someone' });
  });

  it('takes video from the first and audio from the second input', async () => {
    const inputs = [await input('silent.mp4'), await input('audio.m4a')];
    const { output, facts } = await mp4(inputs, { video: video('copy'), audio: audio('copy') });
    expect(output.streams.map(({ codec_type }) => codec_type)).toEqual(['video', 'audio']);
    expect(facts.inputs.map(({ durationSeconds }) => Math.round(durationSeconds ?? 0))).toEqual([4, 8]);
  });

  it('keeps audio and video together', async () => {
    const { output } = await mp4([await input('h264-aac.ts')], {
      video: video('copy'),
      audio: audio('copy'),
    });
    const [first = 0, second = 0] = output.streams.map(({ start_time }) => start_time ?? 0);
    expect(Math.abs(first - second)).toBeLessThan(0.05);
  });

  it.each(['copy', 'transcode'] as const)('has every frame of a transport stream: %s', async (action) => {
    const original = await inspect(await samples.get('h264-aac.ts'));
    const joined = { ...(await input('h264-aac.ts')), isJoined: true, hasTransportKeyFrame: true };
    const { output } = await mp4([joined], { video: video(action), audio: audio('copy') });
    expect(output.streams[0]?.nb_read_frames).toBe(original.streams[0]?.nb_read_frames);
  });

  it('outputs an MP4 without audio for a silent video', async () => {
    const { output } = await mp4([await input('silent.mp4')], { video: video('copy'), audio: null });
    expect(output.streams.map(({ codec_type }) => codec_type)).toEqual(['video']);
    expect(output.streams[0]?.nb_read_frames).toBe(100);
  });

  it('copies VP9 and converts Opus to AAC', async () => {
    const { output } = await mp4([await input('vp9-opus.webm')], {
      video: video('copy', 'vp9'),
      audio: audio('transcode', 'opus'),
    });
    expect(output.streams.map(({ codec_name }) => codec_name)).toEqual(['vp9', 'aac']);
    expect(output.streams[0]?.nb_read_frames).toBe(100);
    expect(output.format.duration).toBeCloseTo(4, 0);
  });

  it('converts VP8 of odd size and Vorbis to H.264 and AAC', async () => {
    const { output } = await mp4([await input('vp8-vorbis.webm')], {
      video: video('transcode', 'vp8'),
      audio: audio('transcode', 'vorbis'),
    });
    expect(output.streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac']);
    expect(output.streams[0]).toMatchObject({ width: 320, height: 180, nb_read_frames: 100 });
  });

  it('outputs each frame once and at its own time when it encodes a variable frame rate', async () => {
    const { output } = await mp4([await input('variable-rate.webm')], {
      video: video('transcode', 'vp8'),
      audio: null,
    });
    expect(output.streams[0]?.nb_read_frames).toBe(58);
    expect(Math.abs((output.streams[0]?.duration ?? 0) - 4)).toBeLessThan(0.1);
  });

  it("uses each ffmpeg's name for the input's time base", () => {
    const tracks = { video: video('transcode', 'vp8'), audio: null };
    const baseOf = (version: string) => {
      const args = mp4Arguments([{ url: 'x' }], tracks, { title: 'T' }, { version });
      return args[args.indexOf('-enc_time_base:v') + 1];
    };
    expect(['5.1.9', '6.1', '7.1', '9.0', '10.0', 'N-1234'].map(baseOf)).toEqual([
      ...['-1', '-1', 'demux', 'demux', 'demux', 'demux'],
    ]);
  });

  it.each([
    ['portrait.mp4', 120, 120, 214],
    ['portrait.mp4', 720, 180, 320],
    ['h264-aac.mp4', 120, 214, 120],
  ] as const)('scales %s into %d pixels where it encodes', async (name, maxShortSide, width, height) => {
    const { output } = await mp4([await input(name)], {
      video: video('transcode', 'h264', maxShortSide),
      audio: null,
    });
    expect(output.streams[0]).toMatchObject({ codec_name: 'h264', width, height });
  });

  it('tags HEVC for Apple players', async () => {
    const { output } = await mp4([await input('hevc.mp4')], {
      video: video('copy', 'hevc'),
      audio: audio('copy'),
    });
    expect(output.streams[0]?.codec_tag_string).toBe('hvc1');
  });

  it('keeps portrait video portrait', async () => {
    const { output } = await mp4([await input('portrait.mp4')], {
      video: video('copy'),
      audio: audio('copy'),
    });
    expect(output.streams[0]).toMatchObject({ width: 180, height: 320 });
  });

  it('starts new fragments even if key frames are rare', async () => {
    const inputs = [await input('one-key-frame.mp4')];
    const args = mp4Arguments(inputs, { video: video('copy'), audio: audio('copy') }, { title: 'T' }, tools);
    const { chunks } = await collect(args);
    expect(Buffer.concat(chunks).toString('latin1').split('moof').length - 1).toBeGreaterThanOrEqual(3);
    const { output } = await mp4(inputs, { video: video('copy'), audio: audio('copy') });
    expect(output.streams[0]?.nb_read_frames).toBe(300);
  });
});

describe('ffmpeg', () => {
  const tracks = { video: video('copy'), audio: audio('copy') };

  it('does not open a playlist that claims to be a file', async () => {
    await samples.get('hls/index.m3u8');
    const disguised = { url: `${server.url}/hls/index.m3u8` };
    server.requests.length = 0;
    const { exit, chunks } = await collect(mp4Arguments([disguised], tracks, { title: 'T' }, tools));
    expect(exit.code).not.toBe(0);
    expect(chunks).toEqual([]);
    expect(server.requests).toEqual(['/hls/index.m3u8']);
  });

  it('does not open a local file', async () => {
    const local = { url: `file:${await samples.get('h264-aac.mp4')}` };
    const { exit, stderr } = await collect(mp4Arguments([local], tracks, { title: 'T' }, tools));
    expect(exit.code).not.toBe(0);
    expect(stderr).toMatch(/whitelist/u);
  });

  it('does not open a local file from a playlist', async () => {
    const file = await samples.get('h264-aac.ts');
    await writeFile(
      join(samples.folder, 'evil.m3u8'),
      `#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\nfile://${file}\n#EXT-X-ENDLIST\n`,
    );
    const { exit } = await collect(
      mp4Arguments([{ url: `${server.url}/evil.m3u8` }], tracks, { title: 'T' }, tools),
    );
    expect(exit.code).not.toBe(0);
  });

  it('fails on garbage without a byte of output', async () => {
    await writeFile(join(samples.folder, 'garbage.mp4'), Buffer.alloc(200_000, 'garbage '));
    const garbage = { url: `${server.url}/garbage.mp4` };
    const { exit, chunks } = await collect(mp4Arguments([garbage], tracks, { title: 'T' }, tools));
    expect(exit.code).not.toBe(0);
    expect(chunks).toEqual([]);
    const mp3 = await collect(mp3Arguments(garbage, { action: 'transcode', codec: '' }, tools));
    expect(mp3.exit.code).not.toBe(0);
    expect(mp3.chunks).toEqual([]);
  });
});

describe('InputFactsReader', () => {
  const read = (...lines: string[]): InputFactsReader => {
    const facts = new InputFactsReader();
    for (const line of lines) facts.readLine(line);
    return facts;
  };

  it('reads the duration of each input', () => {
    const facts = read(
      "[info] Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'http://127.0.0.1/x':",
      '[info]     title           : x',
      '[info]   Duration: 01:02:03.50, start: 1.400000, bitrate: 330 kb/s',
      "[info] Input #1, matroska,webm, from 'http://127.0.0.1/y':",
      '[info]   Duration: 00:00:09.00, start: 1.000000, bitrate: N/A',
      "[info] Input #2, mpegts, from 'http://127.0.0.1/z':",
      '[info]   Duration: N/A, start: 1.000000, bitrate: N/A',
    );
    expect(facts.inputs.map(({ durationSeconds }) => durationSeconds)).toEqual([3723.5, 9, null]);
    expect(facts.inputs.map(({ startSeconds }) => startSeconds)).toEqual([1.4, 1, 0]);
  });

  it('ignores estimated durations', () => {
    const facts = read(
      '[mp3 @ 0x1] [warning] Estimating duration from bitrate, this may be inaccurate',
      "[info] Input #0, mp3, from 'http://127.0.0.1/x':",
      '[info]   Duration: 00:00:09.00, start: 0.000000, bitrate: 128 kb/s',
      "[info] Input #1, mp3, from 'http://127.0.0.1/y':",
      '[info]   Duration: 00:00:09.00, start: 0.000000, bitrate: 128 kb/s',
    );
    expect(facts.inputs).toMatchObject([{ durationSeconds: null }, { durationSeconds: 9 }]);
  });

  it('counts decode errors and reads the length of the decoded audio', () => {
    const facts = read(
      "[info] Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'http://127.0.0.1/x':",
      '[info]   Stream #0:1[0x2](und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz, mono, fltp, 69 kb/s',
      '[error] Error while decoding stream #0:0: Invalid data found when processing input',
      '[aist#0:1/aac @ 0x1] [dec:aac @ 0x2] [error] Error submitting packet to decoder: Invalid data',
      '[verbose]   Input stream #0:1 (audio): 155 packets read (3 bytes); 155 frames decoded; 0 decode errors (88200 samples); ',
      '[verbose]   Output stream #0:0 (audio): 15 frames encoded (14400 samples); 16 packets muxed (3178 bytes); ',
    );
    expect(facts.decodeErrors).toBe(2);
    expect(facts.inputs[0]?.decodedSeconds).toBe(2);
  });

  it.each(['', '[in#0/flv @ 0x1] '])('reads how much audio there was after "%s"', (context) => {
    const facts = read(
      "[info] Input #0, flv, from 'http://127.0.0.1/x':",
      '[info]   Stream #0:1: Audio: aac (LC), 44100 Hz, stereo, fltp, 69 kb/s',
      `${context}[verbose]   Input stream #0:1 (audio): 3 packets read (3 bytes); 3 frames decoded; 0 decode errors (88200 samples); `,
      `${context}[verbose]   Input stream #0:2 (audio): 0 packets read (0 bytes); `,
    );
    expect(facts.audioPackets).toBe(3);
    expect(facts.inputs[0]?.decodedSeconds).toBe(2);
  });

  it('reads which audio ffmpeg finds too late', () => {
    const facts = read(
      '[in#0/mpegts @ 0x1] [warning] New video stream 0:2 at pos:734140 and DTS:1.45867s',
      '[mpeg @ 0x1] [warning] New audio stream 0:1 at pos:2924558 and DTS:14.53s',
      '[mpegts @ 0x1] [warning] New audio stream 0:3 at pos:734150 and DTS:1.45867s',
      '[mpegts @ 0x1] [warning] New subtitle stream 0:4 at pos:734160 and DTS:1.45867s',
    );
    expect(facts.lateAudio).toEqual({ at: 2_924_558, seconds: 14.53 });
  });

  it.each([
    ['', 'a.'],
    ['[info]   Stream #0', ': Video: '],
    ['', 'size='],
  ])('reads a hostile line in linear time: %s%s…', (start, piece) => {
    expectLinearTime((bytes) => {
      const line = start + piece.repeat(bytes / piece.length);
      return () => read(line);
    }, 60_000);
  });

  it('distinguishes audio from video with audio', () => {
    const facts = read(
      "[info] Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'http://127.0.0.1/x':",
      '[info]   Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p, 320x180, 25 fps',
      "[info] Input #1, mov,mp4,m4a,3gp,3g2,mj2, from 'http://127.0.0.1/y':",
      '[info]   Stream #1:0(und): Audio: aac (LC) (mp4a / 0x6134706D), 44100 Hz',
      '[info]   Stream #1:1[0x0]: Video: mjpeg (Baseline), yuvj420p, 64x64, 90k tbr, 90k tbn (attached pic)',
      "[info] Output #0, mp4, to 'pipe:1':",
      '[info]   Stream #0:0(und): Video: h264 (High) (avc1 / 0x31637661), yuv420p, 320x180, 25 fps',
    );
    expect(facts.inputs.map(({ hasVideo }) => hasVideo)).toEqual([true, false]);
  });

  it.each([
    '[mpegts @ 0x1] [error] max resync size reached, could not find sync byte',
    '[NULL @ 0x1] [error] Invalid NAL unit size (1375174863 > 8352).',
    '[in#0/mov,mp4,m4a,3gp,3g2,mj2 @ 0x1] [error] stream 1, offset 0x2cb068: partial file',
    '[matroska,webm @ 0x1] [error] File ended prematurely',
  ])('detects invalid data and missing ends that ffmpeg skips: %s', (line) => {
    expect(read(line).hasInvalidData).toBe(true);
    expect(read(`[info]     title           : ${line}`).hasInvalidData).toBe(false);
  });

  it("detects audio that ffmpeg can't mix down", () => {
    const line =
      "[auto_aresample_0 @ 0x1] [SWR @ 0x2] [error] Input channel layout 'ambisonic 1' is not supported";
    expect(read(line).isSpatial).toBe(true);
    expect(read('[info]   Stream #0:1: Audio: opus, 48000 Hz, ambisonic 1, fltp').isSpatial).toBe(false);
  });

  it('ignores durations in a title', () => {
    const facts = read(
      "[info] Input #0, mp3, from 'http://127.0.0.1/x':",
      '[info]     title           : Duration: 09:00:00.00',
      '[info]   Duration: 00:00:09.00, start: 0.000000, bitrate: 128 kb/s',
    );
    expect(facts.inputs[0]?.durationSeconds).toBe(9);
  });
});
