import { readFile } from 'node:fs/promises';
import { made, media } from '@media-services/fault-site';
import { readHead } from '../../src/formats/head.js';
import type { MediaHead } from '../../src/formats/media-head.js';

const headOf = (bytes: Buffer): MediaHead => {
  const step = readHead([{ offset: 0, bytes, isEnd: true }], bytes.length);
  if (step.kind === 'need') throw new Error('requests bytes past the end');
  return step;
};

/** Like a reader of a long file, which sees only the requested parts. */
function headInParts(bytes: Buffer): MediaHead {
  const pieces = [{ offset: 0, bytes: bytes.subarray(0, 131_072), isEnd: false }];
  for (;;) {
    const step = readHead(pieces, bytes.length);
    if (step.kind === 'head') return step;
    for (const part of step.parts) {
      const end = part.offset + Math.max(part.bytes, 131_072);
      pieces.push({
        offset: part.offset,
        bytes: bytes.subarray(part.offset, end),
        isEnd: end > bytes.length,
      });
    }
  }
}

const read = async (name: string): Promise<Buffer> => readFile(await media(name));
const correctedOf = (bytes: Buffer) => headOf(bytes).correctedLength;
const sweep = (seconds: number) => [
  '-f',
  'lavfi',
  '-i',
  `aevalsrc='0.3*sin(2*PI*220*t)':s=44100:d=${seconds}`,
];

const sound = async (name: string, seconds: number, ...args: string[]): Promise<Buffer> =>
  readFile(await made(name, { args: [...sweep(seconds), ...args, name] }));

describe('the stated length is kept', () => {
  it.each([
    ...['numbered.ts', 'sound.ogg', 'long.ogg', 'numbered-audio.ogg', 'sound.flac', 'numbered-audio.flac'],
    ...['sound.mp3', 'vbr.mp3', 'long.mp3', 'numbered-audio.mp3'],
    // Their media looks like frames in places.
    ...['h264.mkv', 'vp8.webm', 'film.flv', 'film.avi', 'sound.wav', 'cover.jpg', 'mp3.mkv'],
    ...['numbered.mkv', 'numbered.webm', 'opus.webm', 'flac.mkv', 'overlapping.mkv', 'long.mkv'],
  ])('of %s', async (name) => {
    const bytes = await read(name);
    expect(correctedOf(bytes)).toBeNull();
    expect(headInParts(bytes).correctedLength).toBeNull();
  });

  it('of an MP3 with large tags at its end', async () => {
    const tag = Buffer.concat([Buffer.from('APETAGEX'), Buffer.alloc(300_000, 'cover art ')]);
    const bytes = Buffer.concat([await read('vbr.mp3'), tag]);
    expect(correctedOf(bytes)).toBeNull();
  });

  it('of an MP3 that lost its end', async () => {
    expect(correctedOf((await read('vbr.mp3')).subarray(0, 20_000))).toBeNull();
  });
});

describe('the length of an MP3 without a true header is measured', () => {
  const ape = Buffer.alloc(64);
  ape.write('APETAGEX');
  ape.writeUInt32LE(32, 12);
  ape.writeUInt32LE(0xa000_0000, 20);
  const id3 = Buffer.from('ID3\x03\0\0\0\0\0\x20'.padEnd(42, '\0'));

  it.each([
    ['an APE tag', ape],
    ['two tags', Buffer.concat([id3, ape])],
    ["a tag and a program's own data", Buffer.concat([id3, Buffer.alloc(700, 'own data')])],
  ])('after %s', async (_what, before) => {
    const [one, other] = [await read('sound.mp3'), await read('vbr.mp3')];
    const seconds = correctedOf(Buffer.concat([before, one, other]))?.seconds ?? 0;
    expect(Math.abs(seconds - 8)).toBeLessThan(0.3);
  });
});

it('of an AVI without sizes is unknown', async () => {
  expect(correctedOf(await read('streamed.avi'))).toEqual({ seconds: null });
});

/** "Duration" of a Matroska file, as a number of milliseconds. */
function withDuration(bytes: Buffer, ms: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeDoubleBE(ms, copy.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3);
  return copy;
}

it('a Matroska file that overstates its length has lost its end', async () => {
  const bytes = withDuration(await read('h264.mkv'), 40_000);
  expect(() => correctedOf(bytes.subarray(0, -20_000))).toThrow('its end is missing');
});

describe('the length is measured', () => {
  const secondsOf = (bytes: Buffer) => correctedOf(bytes)?.seconds ?? NaN;

  it.each([
    ['constant', 'sound.mp3', 'sound.mp3', 8],
    ['constant, a longer second one', 'sound.mp3', 'long.mp3', 64],
    ['variable', 'vbr.mp3', 'vbr.mp3', 8],
  ])('of joined MP3 files of %s bit rate', async (_what, first, second, seconds) => {
    const found = secondsOf(Buffer.concat([await read(first), await read(second)]));
    expect(Math.abs(found - seconds)).toBeLessThan(0.15);
  });

  it.each(['sound.mp3', 'vbr.mp3'])('of %s that states too few frames', async (name) => {
    const bytes = Buffer.from(await read(name));
    const at = Math.max(bytes.indexOf('Xing'), bytes.indexOf('Info')) + 8;
    bytes.writeUInt32BE(Math.floor(bytes.readUInt32BE(at) / 2), at);
    expect(Math.abs(secondsOf(bytes) - 4)).toBeLessThan(0.15);
  });

  it.each(['sound.mp3', 'vbr.mp3'])('of %s that states 0 frames, if its size is known', async (name) => {
    const bytes = Buffer.from(await read(name));
    bytes.writeUInt32BE(0, Math.max(bytes.indexOf('Xing'), bytes.indexOf('Info')) + 8);
    const { correctedLength, probe } = headOf(bytes);
    expect(Math.abs((correctedLength?.seconds ?? probe?.durationSeconds ?? NaN) - 4)).toBeLessThan(0.15);
    const step = readHead([{ offset: 0, bytes, isEnd: true }], null);
    expect(step).toMatchObject({ probe: { durationSeconds: null } });
  });

  it('of an MP3 of variable bit rate that states nothing', async () => {
    const quiet = await sound('quiet.mp3', 30, '-q:a', '4', '-write_xing', '0');
    const loud = await sound(
      'noise.mp3',
      1,
      '-filter_complex',
      'anoisesrc=d=30',
      '-q:a',
      '0',
      '-write_xing',
      '0',
    );
    const bytes = Buffer.concat([quiet, loud]);
    expect(Math.abs(secondsOf(bytes) - 60) / 60).toBeLessThan(0.15);
  });

  it('of ADTS', async () => {
    expect(Math.abs(secondsOf(await read('sound.aac')) - 4)).toBeLessThan(0.15);
    expect(Math.abs(secondsOf(await read('long.aac')) - 60)).toBeLessThan(1);
  });
});
