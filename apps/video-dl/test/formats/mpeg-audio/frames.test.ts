import { execa } from 'execa';
import fc from 'fast-check';
import { mp3Arguments } from '../../../src/ffmpeg/arguments.js';
import { Mp3FrameCounter } from '../../../src/formats/mpeg-audio/frame-chain.js';
import { readMp3FrameHeader } from '../../../src/formats/mpeg-audio/frames.js';
import { makeInfoFrame } from '../../../src/formats/mpeg-audio/info-frame.js';
import { FileServer } from '../../media/support/file-server.js';
import { collect } from '../../media/support/inspect.js';
import { Samples } from '../../media/support/samples.js';
import type { SampleName } from '../../media/support/samples.js';

let samples: Samples;
let server: FileServer;

beforeAll(async () => {
  samples = await Samples.create();
  server = await FileServer.start(samples.folder);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await samples[Symbol.asyncDispose]();
});

async function convert(name: SampleName, action: 'copy' | 'transcode' = 'transcode'): Promise<Buffer> {
  await samples.get(name);
  const input = { url: `${server.url}/${name}` };
  const { chunks, exit } = await collect(mp3Arguments(input, { action, codec: '' }, {}));
  expect(exit.code).toBe(0);
  return Buffer.concat(chunks);
}

function count(bytes: Buffer, cuts: readonly number[] = []): Mp3FrameCounter {
  const counter = new Mp3FrameCounter();
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    counter.push(bytes.subarray(start, end));
    start = end;
  }
  return counter;
}

describe('Mp3FrameCounter', () => {
  it.each<[SampleName, number]>([
    ['audio.m4a', 8],
    ['h264-aac.mp4', 8],
    ['surround.m4a', 4],
    ['low-rate.ogg', 4],
  ])('measures the length of %s as MP3 at 192 kbit/s', async (name, seconds) => {
    const mp3 = await convert(name);
    const counter = count(mp3);
    expect(counter.seconds).toBeGreaterThan(seconds - 0.05);
    expect(counter.seconds).toBeLessThan(seconds + 0.15);
    expect(counter.strayBytes).toBe(0);
    expect(counter.isComplete).toBe(true);
    expect(Math.abs(mp3.length - counter.seconds * 24_000)).toBeLessThan(700);
  });

  it('measures a copied variable-bit-rate MP3 without its tag', async () => {
    const mp3 = await convert('tagged.mp3', 'copy');
    expect(mp3.toString('latin1', 0, 3)).not.toBe('ID3');
    expect(count(mp3)).toMatchObject({ strayBytes: 0, isComplete: true });
    expect(count(mp3).seconds).toBeCloseTo(6, 0);
    const { stdout } = await execa(
      'ffprobe',
      ['-v', 'error', '-count_packets', '-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0', '-'],
      {
        input: mp3,
      },
    );
    expect(count(mp3).frames).toBe(Number.parseInt(stdout, 10));
  });

  it('counts the same for any chunks', async () => {
    const mp3 = (await convert('audio.m4a')).subarray(0, 20_000);
    const whole = count(mp3);
    fc.assert(
      fc.property(fc.array(fc.nat(mp3.length), { maxLength: 200 }), (cuts) => {
        expect(
          count(
            mp3,
            cuts.toSorted((a, b) => a - b),
          ),
        ).toEqual(whole);
      }),
    );
  });

  it('detects a truncated last frame', async () => {
    expect(count((await convert('audio.m4a')).subarray(0, 10_000)).isComplete).toBe(false);
  });
});

describe('readMp3FrameHeader', () => {
  it.each([
    ['MPEG-1 192 kbit/s 44.1 kHz', 0xfffbb000, { sizeBytes: 626, samples: 1152, sampleRate: 44_100 }],
    ['the same padded', 0xfffbb200, { sizeBytes: 627, samples: 1152, sampleRate: 44_100 }],
    ['MPEG-2 64 kbit/s 22.05 kHz', 0xfff38000, { sizeBytes: 208, samples: 576, sampleRate: 22_050 }],
    ['MPEG-2.5 8 kbit/s 8 kHz', 0xffe31800, { sizeBytes: 72, samples: 576, sampleRate: 8000 }],
    ['layer II', 0xfffdb000, undefined],
    ['the reserved sample rate', 0xfffbbc00, undefined],
    ['an ID3 tag', 0x49443303, undefined],
  ])('reads %s', (_, word, expected) => {
    expect(readMp3FrameHeader(word)).toEqual(expected);
  });
});

describe('makeInfoFrame', () => {
  const probe = async (mp3: Buffer): Promise<{ seconds: number; frames: number }> => {
    const entries = ['-count_frames', '-show_entries', 'stream=duration,nb_read_frames', '-of', 'csv=p=0'];
    const { stdout } = await execa('ffprobe', ['-v', 'error', ...entries, '-'], { input: mp3 });
    const [seconds, frames] = stdout.split(',').map(Number);
    return { seconds: seconds ?? NaN, frames: frames ?? NaN };
  };

  it.each<[SampleName, 'copy' | 'transcode']>([
    ['audio.m4a', 'transcode'],
    ['surround.m4a', 'transcode'],
    ['tagged.mp3', 'copy'],
  ])('lets a player of %s know the length before the end', async (name, action) => {
    const mp3 = await convert(name, action);
    const whole = count(mp3);
    const info = makeInfoFrame(mp3, whole.seconds, action === 'copy' ? 'Xing' : 'Info') ?? Buffer.alloc(0);
    const beginning = mp3.subarray(0, mp3.length / 2);
    expect((await probe(Buffer.concat([info, beginning]))).seconds).toBeCloseTo(whole.seconds, 1);
    expect((await probe(beginning)).seconds).not.toBeCloseTo(whole.seconds, 1);
    // It isn't audible: the number of frames is the same.
    expect((await probe(Buffer.concat([info, mp3]))).frames).toBe((await probe(mp3)).frames);
  });

  it.each([
    ['MPEG-1 stereo', 0xfffbb000, 36],
    ['MPEG-1 mono', 0xfffbb0c0, 21],
    ['MPEG-2 stereo', 0xfff38000, 21],
    ['MPEG-2 mono', 0xfff380c0, 13],
  ])('puts it at the offset for %s', (_, word, offset) => {
    const first = Buffer.alloc(4);
    first.writeUInt32BE(word);
    expect(makeInfoFrame(first, 10, 'Info')?.indexOf('Info')).toBe(offset);
  });

  it("returns nothing if the input isn't MP3", () => {
    expect(makeInfoFrame(Buffer.from('ID3'), 1, 'Info')).toBeUndefined();
    expect(makeInfoFrame(Buffer.from('garbage'), 1, 'Info')).toBeUndefined();
  });
});
