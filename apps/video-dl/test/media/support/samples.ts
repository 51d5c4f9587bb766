import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hdrOptions, made } from '@media-services/fault-site';

const video = (seconds: number, size = '320x180') => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=25:duration=${seconds}`,
];
const audio = (seconds: number) => [
  '-f',
  'lavfi',
  '-i',
  `sine=frequency=440:sample_rate=44100:duration=${seconds}`,
];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50', '-bf', '2'];
const aac = ['-c:a', 'aac', '-b:a', '96k'];

/** One shade in 10 bits with a high dynamic range. @param share of the range between black and the highest value */
const hdr = (share: number, transfer: string) => [
  ...['-f', 'lavfi', '-i', 'color=size=320x180:rate=25:duration=1'],
  ...['-c:v', 'libx264', '-preset', 'ultrafast'],
  ...hdrOptions(transfer, `format=yuv420p10le,geq=lum=${Math.round(64 + 876 * share)}:cb=512:cr=512`),
];

/** Media generated for a test, keyed by file name. */
const recipes = {
  'h264-aac.mp4': [...video(8), ...audio(8), ...h264, ...aac, '-movflags', '+faststart'],
  'moov-last.mp4': [...video(8), ...audio(8), ...h264, ...aac],
  'one-key-frame.mp4': [...video(12), ...audio(12), ...h264, '-g', '10000', ...aac],
  'silent.mp4': [...video(4), ...h264],
  'portrait.mp4': [...video(4, '180x320'), ...audio(4), ...h264, ...aac],
  'hevc.mp4': [
    ...video(4),
    ...audio(4),
    '-c:v',
    'libx265',
    '-x265-params',
    'log-level=error',
    '-preset',
    'ultrafast',
    '-tag:v',
    'hev1',
    ...aac,
  ],
  'vp9-opus.webm': [
    ...video(4),
    ...audio(4),
    '-c:v',
    'libvpx-vp9',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-c:a',
    'libopus',
  ],
  'vp8-vorbis.webm': [
    ...video(4, '321x181'),
    ...audio(4),
    '-c:v',
    'libvpx',
    // With several threads, libvpx waits for them at full load.
    '-threads',
    '1',
    '-deadline',
    'realtime',
    '-c:a',
    'libvorbis',
  ],
  'h264-aac.ts': [...video(8), ...audio(8), ...h264, ...aac],
  'tagged.mp3': [...audio(6), '-c:a', 'libmp3lame', '-q:a', '4', '-metadata', 'title=Old title'],
  'surround.m4a': [
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=300:sample_rate=96000:duration=4',
    '-ac',
    '6',
    '-c:a',
    'aac',
  ],
  'low-rate.ogg': [
    '-f',
    'lavfi',
    '-i',
    'sine=frequency=300:sample_rate=8000:duration=4',
    '-c:a',
    'libvorbis',
  ],
  'variable-rate.webm': [
    ...video(4),
    ...['-vf', "select='lt(n,10)+eq(mod(n,3),0)+gt(n,71)',setpts='PTS+0.011*mod(N,2)/TB'"],
    ...['-vsync', 'vfr', '-enc_time_base', '1:1000'],
    ...['-c:v', 'libvpx', '-threads', '1', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '300k'],
  ],
  'short-audio.mkv': [...video(8), ...audio(4), ...h264, ...aac],
  'hls/index.m3u8': [...video(8), ...audio(8), ...h264, ...aac, '-hls_time', '2', '-hls_list_size', '0'],
  // Cut between key frames, so that an edit list hides what comes before.
  'trimmed.mov': ['-c', 'copy'],
  'sound.avi': [...video(4), ...audio(4), '-c:v', 'mpeg4', '-c:a', 'libmp3lame'],
  'audio.m4a': [...audio(8), ...aac],
  // White as PQ and HLG code it: 58 and 75 % of the range.
  'pq.mp4': hdr(0.58, 'smpte2084'),
  'hlg.mp4': hdr(0.75, 'arib-std-b67'),
  'cover.png': ['-f', 'lavfi', '-i', 'color=red:size=64x64:duration=1', '-frames:v', '1'],
  'cover.jpg': ['-f', 'lavfi', '-i', 'color=blue:size=64x64:duration=1', '-frames:v', '1'],
  'cover.webp': ['-f', 'lavfi', '-i', 'testsrc2=size=160x90:duration=1', '-frames:v', '1', '-c:v', 'libwebp'],
} satisfies Record<string, string[]>;

export type SampleName = keyof typeof recipes;

/** A folder for generated media, which is encoded once for all tests. Removed on disposal. */
export class Samples implements AsyncDisposable {
  readonly folder: string;
  readonly #made = new Map<SampleName, Promise<string>>();

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Samples> {
    return new Samples(await mkdtemp(join(tmpdir(), 'video-dl-samples-')));
  }

  /** The path of the file. */
  get(name: SampleName): Promise<string> {
    const made = this.#made.get(name) ?? this.#make(name);
    this.#made.set(name, made);
    return made;
  }

  async #make(name: SampleName): Promise<string> {
    const [folder = name] = name.split('/');
    await cp(await encoded(name), join(this.folder, folder), { recursive: true });
    return join(this.folder, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The cached file of a sample, or the folder of its files. */
async function encoded(name: SampleName): Promise<string> {
  const [folder = name, file = name] = name.split('/');
  const source = name === 'trimmed.mov' ? ['-ss', '0.36', '-i', await encoded('h264-aac.mp4')] : [];
  return made(folder, { args: [...source, ...recipes[name], file] });
}
