import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import fc from 'fast-check';
import { mp4Arguments } from '../../../src/ffmpeg/arguments.js';
import type { FfmpegInput } from '../../../src/ffmpeg/inputs.js';
import type { TrackPlan } from '../../../src/ffmpeg/track-plan.js';
import { makeBox, Mp4FormatError } from '../../../src/formats/mp4/box.js';
import { FragmentedMp4 } from '../../../src/formats/mp4/fragmented-mp4.js';
import { FileServer } from '../../media/support/file-server.js';
import { collect, inspect } from '../../media/support/inspect.js';
import { Samples } from '../../media/support/samples.js';

const copy: TrackPlan = {
  video: { action: 'copy', codec: 'h264', maxShortSide: 720 },
  audio: { action: 'copy', codec: 'aac' },
};

let samples: Samples;
let server: FileServer;
let source: Buffer;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
  source = await mux('h264-aac.mp4', copy);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
});

async function mux(name: 'h264-aac.mp4' | 'silent.mp4', tracks: TrackPlan): Promise<Buffer> {
  await samples.get(name);
  const input: FfmpegInput = { url: `${server.url}/${name}` };
  const { chunks, exit } = await collect(mp4Arguments([input], tracks, { title: 'T' }, {}));
  expect(exit.code).toBe(0);
  return Buffer.concat(chunks);
}

function walk(
  bytes: Buffer,
  cuts: readonly number[],
  seconds: number | null = 8,
): { output: Buffer; mp4: FragmentedMp4 } {
  const mp4 = new FragmentedMp4(() => seconds);
  const output: Buffer[] = [];
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    // A copy that is wiped afterwards, because the walker must not keep its caller's buffer.
    const chunk = Buffer.from(bytes.subarray(start, end));
    output.push(...mp4.push(chunk).map((part) => Buffer.from(part)));
    chunk.fill(0);
    start = end;
  }
  return { output: Buffer.concat(output), mp4 };
}

function boxTypes(bytes: Buffer): string[] {
  const types: string[] = [];
  for (let offset = 0; offset + 8 <= bytes.length; offset += bytes.readUInt32BE(offset)) {
    types.push(bytes.toString('latin1', offset + 4, offset + 8));
  }
  return types;
}

describe('FragmentedMp4', () => {
  it('sets the duration that ffmpeg leaves at 0', async () => {
    const whole = join(samples.folder, 'patched.mp4');
    const { output } = walk(source, []);
    await writeFile(whole, output);
    const { stdout } = await execa(
      'ffmpeg',
      ['-hide_banner', '-nostdin', '-v', 'trace', '-i', whole, '-t', '0', '-f', 'null', '-'],
      {
        all: true,
        reject: false,
      },
    ).then(({ all }) => ({ stdout: all }));
    expect(stdout).toMatch(/Duration: 00:00:08\.\d\d/u);

    // Apple's players add mdhd to the fragments; all others read the length from one of the others.
    expect(statedSeconds(output)).toEqual({ mvhd: 8, tkhd: [8, 8], mdhd: [0, 0], mehd: 8 });
    expect(statedSeconds(source)).toEqual({ mvhd: 0, tkhd: [0, 0], mdhd: [0, 0], mehd: null });
  });

  it('decodes to the same frames as the source, in sync', async () => {
    const file = join(samples.folder, 'decoded.mp4');
    await writeFile(file, walk(source, []).output);
    const [output, original] = await Promise.all([inspect(file), inspect(await samples.get('h264-aac.mp4'))]);
    expect(output.streams[0]?.nb_read_frames).toBe(original.streams[0]?.nb_read_frames);
    // One hides the first AAC frame with an edit list, the other with its timestamp.
    const [frames = 0, expected = 0] = [output, original].map(
      ({ streams }) => streams[1]?.nb_read_frames ?? 0,
    );
    expect(Math.abs(frames - expected)).toBeLessThanOrEqual(1);
    const [video = NaN, audio = NaN] = output.streams.map((stream) => stream.start_time);
    expect(video).toBe(0);
    expect(Math.abs(audio - video)).toBeLessThan(0.03);
    expect(output.format.duration).toBeCloseTo(8, 1);
  });

  it('measures the length and samples of each track', () => {
    const [video, audio] = walk(source, []).mp4.progress;
    expect(video).toMatchObject({ handler: 'vide', samples: 200 });
    expect(video?.endSeconds).toBeCloseTo(8, 1);
    expect(audio?.handler).toBe('soun');
    expect(audio?.endSeconds).toBeCloseTo(8, 1);
  });

  it('adds mehd and shifts the positions in mfra', () => {
    const { output } = walk(source, []);
    expect(output.length).toBe(source.length + 20);
    expect(boxTypes(output)).toEqual(boxTypes(source));
    const tfra = output.indexOf('tfra') - 4;
    const firstEntry = tfra + 24;
    const position = Number(
      output.readUInt8(tfra + 8) === 1
        ? output.readBigUInt64BE(firstEntry + 8)
        : output.readUInt32BE(firstEntry + 4),
    );
    expect(output.toString('latin1', position + 4, position + 8)).toBe('moof');
  });

  it('changes nothing if the duration is unknown', () => {
    expect(walk(source, [], null).output.equals(source)).toBe(true);
  });

  it('outputs the same bytes for single-byte chunks', () => {
    const head = source.subarray(0, source.indexOf('mdat', source.indexOf('mdat') + 4) + 4);
    const single = walk(head, [...head.keys()].slice(1));
    const whole = walk(head, []);
    expect(single.output.equals(whole.output)).toBe(true);
    expect(single.mp4.progress).toEqual(whole.mp4.progress);
  });

  it('outputs the same bytes for any chunks', () => {
    const whole = walk(source, []);
    fc.assert(
      fc.property(fc.array(fc.nat(source.length), { maxLength: 40 }), (cuts) => {
        const { output, mp4 } = walk(
          source,
          cuts.toSorted((a, b) => a - b),
        );
        expect(output.equals(whole.output)).toBe(true);
        expect(mp4.progress).toEqual(whole.mp4.progress);
        expect(mp4.isComplete).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('detects a file that ends inside a box', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: source.length - 1 }), (end) => {
        const { mp4 } = walk(source.subarray(0, end), []);
        expect(mp4.isComplete).toBe(isBoundary(source, end));
      }),
    );
  });

  it('measures a shorter length when fragments are missing', () => {
    const lastMoof = source.lastIndexOf('moof') - 4;
    const [video] = walk(source.subarray(0, lastMoof), []).mp4.progress;
    expect(video?.endSeconds).toBeLessThan(7);
  });

  it('handles a video without audio', async () => {
    const silent = await mux('silent.mp4', { ...copy, audio: null });
    const { output, mp4 } = walk(silent, [100, 1000], 4);
    expect(mp4.progress.map(({ handler }) => handler)).toEqual(['vide']);
    expect(mp4.progress[0]?.endSeconds).toBeCloseTo(4, 1);
    expect(output.length).toBe(silent.length + 20);
  });

  it('supports 64-bit header fields and sizes', () => {
    const mvhd = Buffer.alloc(112 - 8);
    mvhd.writeUInt8(1, 0);
    mvhd.writeUInt32BE(600, 20);
    const wide = makeBox('moov', [makeBox('mvhd', [mvhd]), makeBox('mvex', [])]);
    const media = Buffer.alloc(24);
    media.writeUInt32BE(1, 0);
    media.write('mdat', 4, 'latin1');
    media.writeBigUInt64BE(24n, 8);
    const { output, mp4 } = walk(Buffer.concat([wide, makeBox('moof', []), media]), [130], 100);
    expect(output.readBigUInt64BE(8 + 8 + 24)).toBe(60_000n);
    expect(mp4.isComplete).toBe(true);
  });

  it.each([
    ['a box smaller than its header', Buffer.from([0, 0, 0, 4, 0x66, 0x74, 0x79, 0x70])],
    ['a moov without its required boxes', makeBox('moov', [makeBox('free', [])])],
    ['a child that extends past its parent', makeBox('moov', [Buffer.from('000000ff6d766864', 'hex')])],
  ])('rejects %s', (_, bytes) => {
    expect(() => walk(bytes, [])).toThrow(Mp4FormatError);
  });

  it('limits the size of a buffered box', () => {
    const mp4 = new FragmentedMp4(() => 1);
    const header = Buffer.alloc(8);
    header.writeUInt32BE(0x7fff_ffff);
    header.write('moov', 4, 'latin1');
    expect(() => mp4.push(header)).toThrow(/exceeds 16777216 bytes/u);
  });
});

function isBoundary(bytes: Buffer, end: number): boolean {
  let offset = 0;
  while (offset < end) offset += bytes.readUInt32BE(offset);
  return offset === end;
}

/** The durations in a movie header with 32-bit fields. */
function statedSeconds(file: Buffer) {
  const boxes = (type: string) => {
    const found: number[] = [];
    for (let at = file.indexOf(type); at !== -1; at = file.indexOf(type, at + 1)) found.push(at);
    return found;
  };
  const [mvhd = 0] = boxes('mvhd');
  const timescale = file.readUInt32BE(mvhd + 16);
  const [mehd] = boxes('mehd');
  return {
    mvhd: file.readUInt32BE(mvhd + 20) / timescale,
    tkhd: boxes('tkhd').map((at) => file.readUInt32BE(at + 24) / timescale),
    mdhd: boxes('mdhd').map((at) => file.readUInt32BE(at + 20)),
    mehd: mehd === undefined ? null : Number(file.readBigUInt64BE(mehd + 8)) / timescale,
  };
}
