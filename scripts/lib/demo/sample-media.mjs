import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, tailOf } from '../run-command.mjs';

/** What the sample film is, for the checks. */
export const film = { title: 'A short sample film', durationSeconds: 12, heights: [1080, 720] };

const sizes = { 1080: '1920x1080', 720: '1280x720' };
const bitrates = { 1080: '4M', 720: '2M' };

async function ffmpeg(args) {
  const { code, output } = await runCommand('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
  if (code !== 0) throw new Error(`ffmpeg could not make the sample film:\n${tailOf(output)}`);
}

/**
 * Makes a moving picture with a tone, H.264 and AAC, at both sizes, as MP4 files and
 * as HLS with a master playlist.
 */
export async function makeSampleFilm(folder) {
  for (const height of film.heights) {
    const file = join(folder, `film-${height}.mp4`);
    await ffmpeg([
      ...['-f', 'lavfi', '-i', `testsrc2=size=${sizes[height]}:rate=30:duration=${film.durationSeconds}`],
      ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${film.durationSeconds}`],
      ...[
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-pix_fmt',
        'yuv420p',
        '-g',
        '60',
        '-b:v',
        bitrates[height],
      ],
      ...['-c:a', 'aac', '-b:a', '128k', '-ac', '2', '-movflags', '+faststart', file],
    ]);
    mkdirSync(join(folder, `hls-${height}`), { recursive: true });
    await ffmpeg([
      ...['-i', file, '-c', 'copy', '-f', 'hls', '-hls_time', '4', '-hls_playlist_type', 'vod'],
      join(folder, `hls-${height}`, 'index.m3u8'),
    ]);
  }
}

/** The HLS master playlist of the film. */
export function masterPlaylist() {
  const variants = film.heights.map(
    (height) =>
      `#EXT-X-STREAM-INF:BANDWIDTH=${height === 1080 ? 4_500_000 : 2_300_000},RESOLUTION=${sizes[height]},CODECS="avc1.640028,mp4a.40.2"\nhls-${height}/index.m3u8`,
  );
  return `#EXTM3U\n#EXT-X-VERSION:3\n${variants.join('\n')}\n`;
}
