import { made } from '../media.js';
import type { Recipe } from '../recipes.js';

/** Length of every media file of the double, in seconds. */
export const mediaSeconds = 4;
const frameRate = 25;

/** Frequency of each audio track in hertz: the pitch of a result shows which track was used. */
export const tones = { original: 440, dub: 660, compressed: 550, described: 880 } as const;
export type Tone = keyof typeof tones;

const picture = (height: number, filter = '') => [
  ...['-f', 'lavfi', '-i'],
  `testsrc2=size=${Math.round((height * 16) / 9 / 2) * 2}x${height}:rate=${frameRate}:duration=${mediaSeconds}${filter}`,
];
const sound = (tone: Tone) => [
  ...['-f', 'lavfi', '-i'],
  `sine=frequency=${tones[tone]}:sample_rate=48000:duration=${mediaSeconds}`,
];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', String(frameRate)];
const vp9 = [
  '-c:v',
  'libvpx-vp9',
  '-deadline',
  'realtime',
  '-cpu-used',
  '8',
  '-b:v',
  '1M',
  '-g',
  String(frameRate),
];
const aac = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2'];
const opus = ['-c:a', 'libopus', '-b:a', '96k', '-ac', '2'];
const fragmented = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof+global_sidx'];
const hls = ['-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod'];

const recipe = (...args: readonly string[][]): Recipe => ({
  args: args.flat(),
  durationSeconds: mediaSeconds,
});

/** Video that is encoded once, for files and for HLS. */
const avc = (height: number) => {
  const name = `avc-${height}.mp4`;
  return { name, recipe: recipe(picture(height), h264, fragmented, [name]) };
};
const withSound = (height: number): Recipe => ({
  ...recipe(sound('original'), ['-c:v', 'copy'], aac, ['-movflags', '+faststart', `both-${height}.mp4`]),
  source: avc(height),
});
const asHls = (height: number): Recipe => ({
  ...recipe(['-c', 'copy'], hls, ['index.m3u8']),
  source: avc(height),
});

const recipes = {
  'avc-360.mp4': avc(360).recipe,
  'avc-720.mp4': avc(720).recipe,
  'avc-1080.mp4': avc(1080).recipe,
  // More than 10 MiB, so that it must be read in pieces.
  'avc-1080-large.mp4': recipe(
    picture(1080, ',noise=alls=30:allf=t'),
    [...h264, '-b:v', '28M', '-minrate', '28M', '-maxrate', '28M', '-bufsize', '28M'],
    fragmented,
    ['avc-1080-large.mp4'],
  ),
  'vp9-1080.webm': recipe(picture(1080), vp9, ['vp9-1080.webm']),
  'both-360.mp4': withSound(360),
  'both-720.mp4': withSound(720),
  'both-1080.mp4': withSound(1080),
  'aac-original.m4a': recipe(sound('original'), aac, fragmented, ['aac-original.m4a']),
  'aac-dub.m4a': recipe(sound('dub'), aac, fragmented, ['aac-dub.m4a']),
  'aac-compressed.m4a': recipe(sound('compressed'), aac, fragmented, ['aac-compressed.m4a']),
  'aac-described.m4a': recipe(sound('described'), aac, fragmented, ['aac-described.m4a']),
  'opus-original.webm': recipe(sound('original'), opus, ['opus-original.webm']),
  'opus-dub.webm': recipe(sound('dub'), opus, ['opus-dub.webm']),
  'hls-avc-360': asHls(360),
  'hls-avc-720': asHls(720),
  'hls-avc-1080': asHls(1080),
  'hls-aac-original': recipe(sound('original'), aac, hls, ['index.m3u8']),
  'hls-aac-dub': recipe(sound('dub'), aac, hls, ['index.m3u8']),
  'hls-aac-described': recipe(sound('described'), aac, hls, ['index.m3u8']),
  'hls-mp3': recipe(sound('original'), ['-c:a', 'libmp3lame', '-b:a', '128k'], hls, [
    '-hls_segment_filename',
    'part-%d.mp3',
    '-f',
    'hls',
    'index.m3u8',
  ]),
} satisfies Record<string, Recipe>;

export type MediumName = keyof typeof recipes;

/** The path of a media file, or of the folder of a segmented one. ffmpeg makes it if it doesn't exist yet. */
export async function medium(name: MediumName): Promise<string> {
  return made(name, recipes[name]);
}

const types: Readonly<Record<string, string>> = { mp4: 'video/mp4', m4a: 'audio/mp4', webm: 'video/webm' };

export function typeOf(name: string): string {
  return types[name.slice(name.lastIndexOf('.') + 1)] ?? 'video/mp2t';
}
