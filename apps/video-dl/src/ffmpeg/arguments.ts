import { type Cover, pictureBlock } from '../formats/cover.js';
import { type AudioTrim, mp3EncoderOptions, mp4AudioOptions } from './audio.js';
import { type ClipTimes, clipStarts, lengthOptions } from './clip.js';
import { type CallOptions, type FfmpegInput, inputArguments, skipOptions, threadOptions } from './inputs.js';
import type { AudioTrack, TrackPlan } from './track-plan.js';
import { videoOptions } from './video.js';

export interface OutputMetadata {
  readonly title: string;
  readonly uploader?: string | null;
  readonly webpageUrl?: string | null;
}

/**
 * We don't use -xerror, which fails on damage that every player skips, such as one broken
 * frame or a timestamp that goes backwards. Instead, the relay knows each failed read, we
 * count decode errors from stderr, and we measure the output's tracks. At the end,
 * `verbose` reports how much audio was decoded.
 */
function generalOptions({ threads }: CallOptions): string[] {
  const filterThreads = threads === undefined ? [] : ['-filter_threads', String(threads)];
  return ['-hide_banner', '-nostdin', '-nostats', '-loglevel', 'level+verbose', ...filterThreads];
}

/**
 * A fragment starts at each key frame and after this time at the latest. Otherwise ffmpeg
 * would buffer a source with rare key frames in memory and delay the first byte.
 */
const maxFragmentMs = 5000;

const fragmentOptions = [
  // delay_moov writes edit lists, without which audio and video are up to 0.2 s apart.
  ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof+delay_moov'],
  ...['-frag_duration', String(maxFragmentMs * 1000)],
];

/** ffmpeg's arguments for a fragmented MP4 on stdout. With two inputs, the first has the video and the second the audio. */
export function mp4Arguments(
  sources: readonly FfmpegInput[],
  tracks: TrackPlan,
  metadata: OutputMetadata,
  tools: CallOptions,
): string[] {
  const { video, audio, clip = null } = tracks;
  const decodesVideo = video?.action === 'transcode';
  const inputs = sources.map((input, index) => ({ ...input, decodesVideo: decodesVideo && index === 0 }));
  const audioInput = inputs.length - 1;
  const starts = clip === null ? undefined : clipStarts(inputs, clip, video?.action === 'copy');
  const cutOf = (index: number) => starts?.[index]?.cut ?? null;
  return [
    ...generalOptions(tools),
    ...inputArguments(inputs, tools, starts),
    ...(clip === null ? skipOptions(inputs) : []),
    ...(video ? ['-map', '0:V:0', ...videoOptions(video, tools, cutOf(0))] : []),
    ...(audio
      ? ['-map', `${audioInput}:a:${audio.track ?? 0}`, ...mp4AudioOptions(audio, cutOf(audioInput))]
      : []),
    ...lengthOptions(clip),
    ...['-map_metadata', '-1', '-map_chapters', '-1', ...metadataOptions(metadata)],
    // Keeps the marks of 360° video.
    ...['-strict', 'unofficial', ...threadOptions(tools), ...fragmentOptions, '-f', 'mp4', 'pipe:1'],
  ];
}

/** ffmpeg's arguments for bare MP3 frames on stdout. No tags: the service sends its own first. */
export function mp3Arguments(
  input: FfmpegInput,
  audio: AudioTrack,
  tools: CallOptions,
  { trim = null, clip = null }: { trim?: AudioTrim | null; clip?: ClipTimes | null } = {},
): string[] {
  const starts = clip === null ? undefined : clipStarts([input], clip);
  return [
    ...generalOptions(tools),
    ...inputArguments([input], tools, starts),
    ...[...(clip === null ? skipOptions([input]) : []), '-map', `0:a:${audio.track ?? 0}`],
    ...(audio.action === 'copy'
      ? ['-c:a', 'copy']
      : mp3EncoderOptions(audio, trim, starts?.[0]?.cut ?? null)),
    ...lengthOptions(clip),
    ...['-map_metadata', '-1', '-map_chapters', '-1'],
    ...[...threadOptions(tools), '-write_xing', '0', '-id3v2_version', '0'],
    // By default, ffmpeg writes each frame (a few hundred bytes) separately, and each write wakes Node.
    ...['-flush_packets', '0', '-f', 'mp3', 'pipe:1'],
  ];
}

/**
 * ffmpeg's arguments for copied audio on stdout, in a fragmented MP4 or Ogg.
 * @param cover delivers `coverMetadata`, for Ogg only
 */
export function copiedAudioArguments(
  input: FfmpegInput,
  { codec, track = 0, skipsHidden = false }: AudioTrack,
  container: 'm4a' | 'ogg',
  metadata: OutputMetadata,
  tools: CallOptions,
  cover?: FfmpegInput,
): string[] {
  return [
    ...generalOptions(tools),
    ...inputArguments([input], tools),
    ...(cover === undefined ? [] : metadataInput(cover)),
    ...['-map', `0:a:${track}`, '-c:a', 'copy'],
    ...(codec === 'aac' ? ['-bsf:a', 'aac_adtstoasc'] : []),
    // Leaves out packets before time zero.
    ...(skipsHidden ? ['-copypriorss:a', '0'] : []),
    // Without the first, the metadata of the source's track would be kept.
    ...['-map_metadata', '-1', ...(cover === undefined ? [] : ['-map_metadata', '1'])],
    ...['-map_chapters', '-1', ...metadataOptions(metadata), ...threadOptions(tools)],
    ...(container === 'ogg'
      ? ['-f', 'ogg', 'pipe:1']
      : [...fragmentOptions, '-brand', 'M4A ', '-f', 'mp4', 'pipe:1']),
  ];
}

/** The only input that may be in ffmpeg's own metadata format. */
function metadataInput({ url }: FfmpegInput): string[] {
  const only = ['-protocol_whitelist', 'pipe', '-format_whitelist', 'ffmetadata'];
  return [...only, '-f', 'ffmetadata', '-i', url];
}

/** A cover in ffmpeg's metadata format, as a comment that its Ogg muxer writes unchanged. */
export function coverMetadata(cover: Cover | null): string {
  const picture = cover && pictureBlock(cover).toString('base64').replaceAll('=', '\\=');
  return `;FFMETADATA1\n${picture === null ? '' : `METADATA_BLOCK_PICTURE=${picture}\n`}`;
}

function metadataOptions({ title, uploader, webpageUrl }: OutputMetadata): string[] {
  const values = { title, artist: uploader, comment: webpageUrl };
  return Object.entries(values).flatMap(([key, value]) => {
    const text = metadataText(value);
    return text === '' ? [] : ['-metadata', `${key}=${text}`];
  });
}

/** One line, at most 500 characters. */
function metadataText(value: string | null | undefined): string {
  return (value ?? '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500);
}
