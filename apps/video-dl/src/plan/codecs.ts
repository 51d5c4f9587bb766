/** What is done to one stream on its way out. */
export type StreamAction = 'copy' | 'transcode';

/** MP4 carries these and its players play them: H.264, HEVC, AV1, VP9, MPEG-4 Part 2. */
const mp4Video = /^(avc|h264|hev|hvc|h265|dvh|av01|av1|vp09|vp9|mp4v|mpeg4)/i;

/** Opus, Vorbis, FLAC, AC-3 and the like go into MP4 too, but most of its players stay silent. */
const mp4Audio = /^(mp4a|aac)/i;

const mp3 = /^(mp3|mp4a\.(6b|69|40\.34))/i;

/** Whether an MP4 player plays this video codec as it is. */
export function mp4VideoAction(codec: string): StreamAction {
  return mp4Video.test(codec) ? 'copy' : 'transcode';
}

/** Whether an MP4 player plays this audio codec as it is. */
export function mp4AudioAction(codec: string): StreamAction {
  return mp4Audio.test(codec) && !mp3.test(codec) ? 'copy' : 'transcode';
}

export function mp3AudioAction(codec: string): StreamAction {
  return mp3.test(codec) ? 'copy' : 'transcode';
}

const families: readonly (readonly [RegExp, string])[] = [
  [/^(avc|h264)/i, 'h264'],
  [/^(hev|hvc|h265)/i, 'hevc'],
  [/^(av01|av1)/i, 'av1'],
  [/^(vp09|vp9)/i, 'vp9'],
  [mp3, 'mp3'],
  [mp4Audio, 'aac'],
];

/** ffprobe's name for a codec that may carry a profile (`avc1.640028` is `h264`); as it is where that is not known. */
export function codecFamily(codec: string): string {
  return families.find(([pattern]) => pattern.test(codec))?.[1] ?? codec.toLowerCase();
}
