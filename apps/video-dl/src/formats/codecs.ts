export type StreamAction = 'copy' | 'transcode';

/** Codecs that MP4 supports and players play: H.264, HEVC, AV1, VP9, MPEG-4 Part 2. */
const mp4Video = /^(avc|h264|hev|hvc|h265|dvh|av01|av1|vp09|vp9|mp4v|mpeg4)/i;

/**
 * MP4 also supports Opus, Vorbis, FLAC, AC-3 and others, but most players stay silent. ffmpeg can't
 * copy AAC from LATM, the framing of broadcasts.
 */
const mp4Audio = /^(mp4a|aac(?!_latm))/i;

const mp3 = /^(mp3|mp4a\.(6b|69|40\.34))/i;

/** H.264 in 8-bit 4:2:0. Few players support the other profiles (High 10, High 4:2:2, High 4:4:4). */
const commonH264 = /^(avc\d?|h264)(?!\d?\.(2c|6e|7a|90|f4))/i;

/** Which video codecs to copy into an MP4: all that some players support, or only what all players support. */
export const mp4VideoChoices = ['copy', 'h264'] as const;
export type Mp4VideoChoice = (typeof mp4VideoChoices)[number];

export function mp4VideoAction(codec: string, choice: Mp4VideoChoice): StreamAction {
  return (choice === 'copy' ? mp4Video : commonH264).test(codec) ? 'copy' : 'transcode';
}

/** Which players support an MP4, by its video codec. The audio is always AAC. */
export const players = ['everywhere', 'newer players', 'some players'] as const;
export type Players = (typeof players)[number];

/** @param codec of the video in the MP4 */
export function playersOf(codec: string): Players {
  if (commonH264.test(codec)) return 'everywhere';
  return /^(hevc|av1|vp9)$/.test(codecFamily(codec)) ? 'newer players' : 'some players';
}

export function mp4AudioAction(codec: string): StreamAction {
  return mp4Audio.test(codec) && !mp3.test(codec) ? 'copy' : 'transcode';
}

export function mp3AudioAction(codec: string): StreamAction {
  return mp3.test(codec) ? 'copy' : 'transcode';
}

/** Containers for original audio: fragmented M4A, Ogg, bare MP3. */
export type AudioContainer = 'm4a' | 'ogg' | 'mp3';

const audioContainers: readonly (readonly [RegExp, AudioContainer])[] = [
  [mp3, 'mp3'],
  [/^(mp4a|aac(?!_latm)|alac|ac-?3|e-?ac-?3|ec-3)/i, 'm4a'],
  [/^(opus|vorbis|flac)/i, 'ogg'],
];

/** The container for a copied codec; undefined if none supports it. */
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

/**
 * Whether a file has the codec that its page announces, or neither has such a track. Pages don't always
 * say that few players support it.
 */
export function isSameCodec(found: string | undefined, announced: string | undefined): boolean {
  if (found === undefined || announced === undefined) return found === announced;
  return codecFamily(found) === codecFamily(announced) && playersOf(found) === playersOf(announced);
}

/** Whether the parameter sets of H.264 or HEVC in MP4 may be in the media alone, where Apple's players don't look. */
export function hasSetsInMedia(codec: string | undefined): boolean {
  return /^(avc3|hev1)/.test(codec ?? '');
}

/** ffprobe's name for a codec string such as `avc1.640028` (`h264`); unknown ones are only lowercased. */
export function codecFamily(codec: string): string {
  return families.find(([pattern]) => pattern.test(codec))?.[1] ?? codec.toLowerCase();
}
