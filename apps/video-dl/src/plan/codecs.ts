/** What is done to one stream on its way out. */
export type StreamAction = 'copy' | 'transcode';

/** MP4 carries these and its players play them: H.264, HEVC, AV1, VP9, MPEG-4 Part 2. */
const mp4Video = /^(avc|h264|hev|hvc|h265|dvh|av01|av1|vp09|vp9|mp4v|mpeg4)/i;

/** Opus, Vorbis, FLAC, AC-3 and the like go into MP4 too, but most of its players stay silent. */
const mp4Audio = /^(mp4a|aac)/i;

const mp3 = /^(mp3|mp4a\.(6b|69|40\.34))/i;

/** H.264 in 8 bits and 4:2:0; by their names, its other profiles (High 10, High 4:2:2, High 4:4:4) are for few players. */
const commonH264 = /^(avc\d?|h264)(?!\d?\.(6e|7a|f4))/i;

/** Which video codecs are copied into an MP4: all that MP4 carries and some players play, or only what all play. */
export const mp4VideoChoices = ['copy', 'h264'] as const;
export type Mp4VideoChoice = (typeof mp4VideoChoices)[number];

export function mp4VideoAction(codec: string, choice: Mp4VideoChoice): StreamAction {
  return (choice === 'copy' ? mp4Video : commonH264).test(codec) ? 'copy' : 'transcode';
}

/** What plays an MP4, by its video codec; the audio is always AAC. */
export const players = ['everywhere', 'newer players', 'some players'] as const;
export type Players = (typeof players)[number];

/** @param codec of the video in the MP4 */
export function playersOf(codec: string): Players {
  if (commonH264.test(codec)) return 'everywhere';
  return /^(hevc|av1|vp9)$/.test(codecFamily(codec)) ? 'newer players' : 'some players';
}

/** Whether MP4 players play this audio codec as it is. */
export function mp4AudioAction(codec: string): StreamAction {
  return mp4Audio.test(codec) && !mp3.test(codec) ? 'copy' : 'transcode';
}

export function mp3AudioAction(codec: string): StreamAction {
  return mp3.test(codec) ? 'copy' : 'transcode';
}

/** Containers of audio as the site has it: fragmented M4A, Ogg, bare MP3. */
export type AudioContainer = 'm4a' | 'ogg' | 'mp3';

const audioContainers: readonly (readonly [RegExp, AudioContainer])[] = [
  [mp3, 'mp3'],
  [/^(mp4a|aac|alac|ac-?3|e-?ac-?3|ec-3)/i, 'm4a'],
  [/^(opus|vorbis|flac)/i, 'ogg'],
];

/** What a codec is copied into; undefined for one that none of our containers carries. */
export function audioContainer(codec: string): AudioContainer | undefined {
  return audioContainers.find(([pattern]) => pattern.test(codec))?.[1];
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
