import { execa } from 'execa';
import fc from 'fast-check';
import { mp3Arguments } from '../../dist/media/ffmpeg-arguments.js';
import { Mp3FrameCounter, readMp3FrameHeader } from '../../dist/media/mp3/frame-counter.js';
import { FileServer } from './support/file-server.js';
import { collect } from './support/inspect.js';
import { Samples } from './support/samples.js';
import type { SampleName } from './support/samples.js';

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
  const input = { url: `${server.url}/${name}`, kind: 'file' } as const;
  const { chunks, exit } = await collect(
    mp3Arguments(input, { action, codec: '', adtsToAsc: false }, { hlsPicksExtensions: true }),
  );
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
  ])('tells the length of %s as MP3 at 192 kbit/s', async (name, seconds) => {
    const mp3 = await convert(name);
    const counter = count(mp3);
    expect(counter.seconds).toBeGreaterThan(seconds - 0.05);
    expect(counter.seconds).toBeLessThan(seconds + 0.15);
    expect(counter.strayBytes).toBe(0);
    expect(counter.complete).toBe(true);
    expect(Math.abs(mp3.length - counter.seconds * 24_000)).toBeLessThan(700);
  });

  it('copies an MP3 of variable bit rate, without its tag', async () => {
    const mp3 = await convert('tagged.mp3', 'copy');
    expect(mp3.toString('latin1', 0, 3)).not.toBe('ID3');
    expect(count(mp3)).toMatchObject({ strayBytes: 0, complete: true });
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

  it('counts the same whatever the chunks are', async () => {
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

  it('sees a last frame that is cut', async () => {
    expect(count((await convert('audio.m4a')).subarray(0, 10_000)).complete).toBe(false);
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
