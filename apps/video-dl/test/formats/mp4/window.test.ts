import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { media } from '@media-services/fault-site';
import { execa } from 'execa';
import { windowLayout, type WindowTracks } from '../../../src/formats/mp4/remux/remux.js';
import { inspect } from '../../media/support/inspect.js';
import { frameNumbers } from '../../media/support/numbered.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-dl-window-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const both: WindowTracks = { video: true, audio: 0 };
const tags = { title: '', artist: null, comment: '', chapters: [] };

interface Part {
  readonly from: number;
  readonly to?: number;
  readonly reader?: 'player' | 'decoder';
  readonly wanted?: WindowTracks;
}

/** Writes the window of a file. @returns null if the file can't have one */
async function windowOf(paths: readonly string[], { from, to, reader = 'player', wanted = both }: Part) {
  const sources = await Promise.all(paths.map(async (path) => readFile(path)));
  const files = sources.map((bytes) => ({
    pieces: [{ offset: 0, bytes, isEnd: true }],
    totalBytes: bytes.length,
  }));
  const times = { startSeconds: from, endSeconds: to ?? null, for: reader } as const;
  const found = windowLayout(files, { wanted, times }, tags);
  if (found === null) return null;
  const { layout, startSeconds } = found;
  const parts = [...layout.sources].map((source, index) => {
    const offset = layout.offsets[index] ?? 0;
    return sources[source]?.subarray(offset, offset + (layout.lengths[index] ?? 0)) ?? Buffer.alloc(0);
  });
  const file = join(folder, 'window.mp4');
  await writeFile(file, Buffer.concat([layout.header, ...parts]));
  return { file, startSeconds, tracks: layout.tracks };
}

async function expectWindow(paths: readonly string[], part: Part) {
  const window = await windowOf(paths, part);
  if (window === null) throw new Error('there is no window');
  return window;
}

/** Hashes of a track's packets in decoding order. */
async function packets(file: string, track: 'v' | 'a'): Promise<string[]> {
  const { stdout } = await execa('ffmpeg', [
    ...['-v', 'error', '-ignore_editlist', '1', '-i', file, '-map', `0:${track}`],
    ...['-c', 'copy', '-f', 'framemd5', '-'],
  ]);
  return stdout.split('\n').flatMap((line) => (line.startsWith('#') ? [] : (line.split(',').at(-1) ?? [])));
}

const numbersFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => first + index);

describe('the window of a file', () => {
  it('has the frames and the audio of the clip, from a key frame', async () => {
    const source = await media('numbered.mp4');
    const { file, startSeconds } = await expectWindow([source], { from: 6, to: 8.5 });
    expect(startSeconds).toBe(6);
    expect(await frameNumbers(file)).toEqual(numbersFrom(150, 63));
    const { format, streams } = await inspect(file);
    expect(format.duration).toBeCloseTo(2.5, 3);
    for (const { duration } of streams) expect(duration).toBeCloseTo(2.5, 2);
  });

  it('has every packet of the clip, in decoding order', async () => {
    const source = await media('numbered.mp4');
    const { file } = await expectWindow([source], { from: 6, to: 8.5 });
    for (const track of ['v', 'a'] as const) {
      const [all, some] = await Promise.all([packets(source, track), packets(file, track)]);
      const first = all.indexOf(some[0] ?? '');
      expect(some.length).toBeGreaterThan(60);
      expect(all.slice(first, first + some.length)).toEqual(some);
    }
  });

  it('rejects a window for a player that would not start at a key frame', async () => {
    expect(await windowOf([await media('numbered.mp4')], { from: 5.2, to: 6 })).toBeNull();
  });

  it('begins for a decoder at the key frame before the start', async () => {
    const source = await media('numbered.mp4');
    const { file, startSeconds } = await expectWindow([source], { from: 5.2, to: 6, reader: 'decoder' });
    expect(startSeconds).toBe(4);
    const frames = await frameNumbers(file);
    expect(frames.slice(0, 51)).toEqual(numbersFrom(100, 51));
  });

  it('leaves out frames that are shown before its key frame', async () => {
    const groups = 'open-gop=1:keyint=50:min-keyint=50:scenecut=0:bframes=3:b-adapt=0';
    const source = join(folder, 'open.mp4');
    await execa('ffmpeg', [
      ...['-v', 'error', '-t', '8', '-i', await media('numbered.mp4')],
      ...['-preset', 'veryfast', '-x264-params', groups, '-c:a', 'copy', source],
    ]);
    const { file } = await expectWindow([source], { from: 6, to: 7 });
    expect((await frameNumbers(file)).slice(0, 25)).toEqual(numbersFrom(150, 25));
  });

  it('has for a decoder the frames on screen at its start and after its end', async () => {
    const source = await media('numbered-slides.mp4');
    const { file, startSeconds } = await expectWindow([source], { from: 2.5, to: 5, reader: 'decoder' });
    expect(startSeconds).toBeLessThanOrEqual(1);
    const frames = await frameNumbers(file);
    expect(frames).toContain(24);
    expect(frames).toContain(150);
  });

  it('has no audio track where the video has no audio', async () => {
    const source = await media('numbered-short-audio.mp4');
    const { tracks } = await expectWindow([source], { from: 14.2, to: 15.2, reader: 'decoder' });
    expect(tracks.map(({ type }) => type)).toEqual(['video']);
  });

  it('of audio alone is as long as the clip, with one packet before it', async () => {
    const source = await media('numbered-audio.m4a');
    const wanted = { video: false, audio: 0 };
    const { file } = await expectWindow([source], { from: 7.2345, to: 9, wanted });
    const { format, streams } = await inspect(file);
    expect(format.duration).toBeCloseTo(1.7655, 3);
    expect(streams).toHaveLength(1);
    // Two of them are cut.
    const whole = (1.7655 * 44_100) / 1024;
    expect((await packets(file, 'a')).length - whole).toBeLessThan(3);
    const { stdout } = await execa('ffmpeg', ['-v', 'error', '-i', file, '-f', 's16le', '-ac', '1', '-'], {
      encoding: 'buffer',
    });
    expect(Math.abs(stdout.length / 2 - 1.7655 * 44_100)).toBeLessThan(1024);
  });
});
