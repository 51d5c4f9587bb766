import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Properties of the sample video, for checking results. */
export const film = { title: 'A short sample film', durationSeconds: 12, heights: [1080, 720] } as const;

type Height = (typeof film.heights)[number];

const renditions = {
  1080: { size: '1920x1080', bitrate: '4M', bandwidth: 4_500_000 },
  720: { size: '1280x720', bitrate: '2M', bandwidth: 2_300_000 },
} as const;

export interface FilmOptions {
  /** `film.durationSeconds` by default. */
  readonly durationSeconds?: number;
  readonly heights?: readonly Height[];
}

/**
 * Makes a video with a tone, H.264 and AAC, in each size: `film-HEIGHT.mp4`, and as HLS
 * `hls-HEIGHT/index.m3u8`. Needs ffmpeg with libx264.
 */
export async function makeSampleFilm(folder: string, options: FilmOptions = {}): Promise<void> {
  const { durationSeconds = film.durationSeconds, heights = film.heights } = options;
  for (const height of heights) {
    const { size, bitrate } = renditions[height];
    const file = join(folder, `film-${height}.mp4`);
    await ffmpeg([
      ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=30:duration=${durationSeconds}`],
      ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${durationSeconds}`],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '60', '-b:v', bitrate],
      ...['-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-movflags', '+faststart', file],
    ]);
    await mkdir(join(folder, `hls-${height}`), { recursive: true });
    await ffmpeg([
      ...['-i', file, '-c', 'copy', '-f', 'hls', '-hls_time', '4', '-hls_playlist_type', 'vod'],
      join(folder, `hls-${height}`, 'index.m3u8'),
    ]);
  }
}

/**
 * Makes a film of at least so many bytes, with noise over the picture so that it has the
 * bit rate of real material: `long.mp4`, as QuickTime `long.mov`, as Matroska `long.mkv`, and as HLS
 * `long-hls/index.m3u8` (transport streams) and `long-fmp4/index.m3u8`.
 */
export async function makeLongFilm(folder: string, minBytes: number): Promise<void> {
  const piece = join(folder, 'long-piece.mp4');
  const file = join(folder, 'long.mp4');
  await ffmpeg([
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=25:duration=8'],
    ...['-f', 'lavfi', '-i', 'anoisesrc=color=pink:amplitude=0.3:sample_rate=44100:duration=8'],
    ...['-vf', 'noise=alls=40:allf=t', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...[
      '-g',
      '50',
      '-b:v',
      '20M',
      '-maxrate',
      '20M',
      '-bufsize',
      '20M',
      '-c:a',
      'aac',
      '-b:a',
      '128k',
      piece,
    ],
  ]);
  const loops = Math.ceil(minBytes / (await stat(piece)).size) - 1;
  const copied = ['-c', 'copy', '-movflags', '+faststart'];
  await ffmpeg(['-stream_loop', String(loops), '-i', piece, ...copied, file]);
  await rm(piece);
  await makeOtherContainers(file);
  for (const [name, type] of [
    ['long-hls', 'mpegts'],
    ['long-fmp4', 'fmp4'],
  ] as const) {
    await mkdir(join(folder, name));
    const segments = ['-hls_time', '4', '-hls_playlist_type', 'vod', '-hls_segment_type', type];
    await ffmpeg(['-i', file, '-c', 'copy', '-f', 'hls', ...segments, join(folder, name, 'index.m3u8')]);
  }
}

/** Puts an MP4 beside itself as QuickTime, which needs a new header, and as Matroska, which needs ffmpeg. */
export async function makeOtherContainers(mp4: string): Promise<void> {
  await ffmpeg(['-i', mp4, '-c', 'copy', '-movflags', '+faststart', mp4.replace(/\.mp4$/, '.mov')]);
  await ffmpeg(['-i', mp4, '-c', 'copy', mp4.replace(/\.mp4$/, '.mkv')]);
}

/** Makes AAC audio of a given length with a realistic bit rate: `long.m4a`. */
export async function makeLongSound(folder: string, seconds: number): Promise<void> {
  await ffmpeg([
    ...['-f', 'lavfi', '-i', `anoisesrc=color=pink:amplitude=0.3:sample_rate=44100:duration=${seconds}`],
    ...['-c:a', 'aac', '-b:a', '128k', '-movflags', '+faststart', join(folder, 'long.m4a')],
  ]);
}

async function ffmpeg(args: readonly string[]): Promise<void> {
  await execa(process.env.FFMPEG_PATH || 'ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}

/** The HLS master playlist of the video. */
export function masterPlaylist(): string {
  const variants = film.heights.map((height) => {
    const { bandwidth, size } = renditions[height];
    return `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${size},CODECS="avc1.640028,mp4a.40.2"\nhls-${height}/index.m3u8`;
  });
  return `#EXTM3U\n#EXT-X-VERSION:3\n${variants.join('\n')}\n`;
}
