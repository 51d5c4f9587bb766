import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** What the sample film is, for those who look at what became of it. */
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
 * Makes a moving picture with a tone, H.264 and AAC, in each size: `film-HEIGHT.mp4`,
 * and as HLS `hls-HEIGHT/index.m3u8`. Needs ffmpeg with libx264.
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

async function ffmpeg(args: readonly string[]): Promise<void> {
  await execa(process.env.FFMPEG_PATH || 'ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}

/** The HLS master playlist of the film. */
export function masterPlaylist(): string {
  const variants = film.heights.map((height) => {
    const { bandwidth, size } = renditions[height];
    return `#EXT-X-STREAM-INF:BANDWIDTH=${bandwidth},RESOLUTION=${size},CODECS="avc1.640028,mp4a.40.2"\nhls-${height}/index.m3u8`;
  });
  return `#EXTM3U\n#EXT-X-VERSION:3\n${variants.join('\n')}\n`;
}
