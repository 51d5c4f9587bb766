import { DomainError } from '@media-services/http-common';
import { isImageCodec } from '../extract/probed-details.js';
import type { Extraction, Format } from '../extract/types.js';
import { isMp4Target, mp4ShortSides, type Mp4Target, type Target } from '../targets.js';
import { partsIn } from '../formats/chapters.js';
import type { AudioTrack, VideoTrack } from '../ffmpeg/track-plan.js';
import type { TextTrack } from '../formats/mp4/text-track.js';
import type { Tags } from '../look/layouts.js';
import type { Draft } from '../look/look.js';
import { clipOf, secondsIn, type Clip, type ClipRequest } from './clip.js';
import { isImages, noAudio, notCopyable, tooLarge, tooLong } from './rejections.js';
import { isMp4File, noOriginalClip, type PlannedStreams, windowFor } from './window.js';
import {
  audioContainer,
  mp3AudioAction,
  mp4AudioAction,
  mp4VideoAction,
  playersOf,
  type AudioContainer,
  type Mp4VideoChoice,
  type Players,
  type StreamAction,
} from '../formats/codecs.js';
import { estimateBytes, fitInto } from './estimate.js';

export interface VideoPlan extends VideoTrack {
  readonly width: number | null;
  readonly height: number | null;
  readonly fps: number | null;
  readonly plays: Players;
}

/** What the stream must contain. The relay delivers it, and verification checks the result against it. */
export interface Expected {
  /** Which track to read from each input. */
  readonly tracks: readonly ('all' | 'video' | 'audio')[];
  /** Duration of the stream according to the page; null if it states none. */
  readonly seconds: number | null;
  /** Duration of the audio if only that is sent; null if unknown, absent if it is as long as the video. */
  readonly audioSeconds?: number | null | undefined;
  /** The part of the video that the stream contains; null for all of it. */
  readonly clip: Clip | null;
  /** Whether the media state another, wrong length. */
  readonly mediaStateWrongLength: boolean;
}

/** What to produce for one target, and from which sources. */
export interface Plan extends Draft, Tags, Pick<Extraction, 'id' | 'covers'> {
  readonly target: Target;
  readonly formatIds: readonly string[];
  readonly video: VideoPlan | null;
  readonly audio: AudioTrack | null;
  /** Whether the media list audio, but the part we read has none. */
  readonly awaitsAudio: boolean;
  /** Whether the audio of its file is shorter than stated. */
  readonly statesWrongAudioLength: boolean;
  /** Where in the input the audio begins, if ffmpeg wouldn't look that far for it. */
  readonly audioStart?: { readonly at: number; readonly seconds: number };
  /** Output container; null if we can't generate one and only the site's own file will do. */
  readonly container: 'mp4' | AudioContainer | null;
  readonly expected: Expected;
  readonly estimatedBytes: number | null;
  /** Subtitles to add, in the time of the stream. */
  readonly texts: readonly TextTrack[];
}

/** Settings of the operator. */
export interface PlanSettings {
  readonly maxDurationSeconds: number;
  readonly maxOutputBytes: number;
  readonly mp4Video: Mp4VideoChoice;
}

/**
 * Plans a target: picks formats, and decides by codec whether to copy or transcode.
 * @throws DomainError `no_media` if the page has nothing for this target, `too_long`, `invalid_request` for a clip outside the video
 */
export function planTarget(
  extraction: Extraction,
  target: Target,
  settings: PlanSettings,
  clipRequest: ClipRequest = {},
  texts: readonly TextTrack[] = [],
): Plan {
  const { durationSeconds, mediaStateWrongLength } = extraction;
  const clip = clipOf(extraction, clipRequest);
  const whole = streamsFor(extraction, target, settings);
  const awaitsAudio = clip === null && whole.isAudioAbsent === true;
  const streams = clip === null ? { ...whole, ...(awaitsAudio && { audio: null }) } : withExactAudio(whole);
  const mayWindow = clip !== null && texts.length === 0 && !mediaStateWrongLength;
  const window = mayWindow ? windowFor(target, whole, clip) : null;
  if (clip !== null && target === 'original' && window?.readers.length !== 1) throw noOriginalClip();
  const audioSeconds = audioSecondsOf(streams, extraction, clip);
  const wholeBytes = estimateBytes(streams, audioSeconds ?? durationSeconds);
  const seconds = durationSeconds === null ? lengthOf(clip) : secondsIn(clip, durationSeconds);
  const estimatedBytes = shareOf(wholeBytes, seconds, durationSeconds);
  const expected = { tracks: streams.tracks, seconds, audioSeconds, clip, mediaStateWrongLength };
  assertNotTooLong({ target, expected, estimatedBytes }, settings);
  return {
    target,
    inputs: streams.formats.map(({ source }) => source),
    formatIds: streams.formats.map(({ id }) => id),
    video: streams.video,
    audio: streams.audio,
    awaitsAudio,
    statesWrongAudioLength: false,
    container: streams.container,
    siteFile: texts.length === 0 ? siteFileFor(target, streams) : null,
    mayNeedOnlyHeader:
      clip === null && texts.length === 0 && !mediaStateWrongLength && mayNeedOnlyHeader(streams),
    window,
    expected,
    estimatedBytes,
    id: extraction.id,
    title: extraction.title,
    uploader: extraction.uploader,
    webpageUrl: extraction.webpageUrl,
    covers: extraction.covers,
    texts,
    chapters: partsIn(clip, extraction.chapters),
  };
}

/** How much the audio may differ from the video without mattering to a clip. */
const maxDifferenceSeconds = 0.5;

function audioSecondsOf(
  { formats: [format], video }: Streams,
  { durationSeconds, mediaStateWrongLength }: Extraction,
  clip: Clip | null,
): number | null | undefined {
  const seconds = format?.audioSeconds;
  if (video !== null || seconds === undefined) return undefined;
  if (mediaStateWrongLength) return null;
  if (clip === null) return seconds;
  const isSame = Math.abs((seconds ?? 0) - (durationSeconds ?? 0)) <= maxDifferenceSeconds;
  return isSame ? undefined : null;
}

/** How long the output is. @param seconds of its inputs */
export function outputSeconds({ expected }: Pick<Plan, 'expected'>, seconds: number | null): number | null {
  return expected.audioSeconds === undefined ? seconds : expected.audioSeconds;
}

function lengthOf(clip: Clip | null): number | null {
  return clip?.endSeconds == null ? null : clip.endSeconds - clip.startSeconds;
}

function shareOf(
  wholeBytes: number | null,
  seconds: number | null,
  wholeSeconds: number | null,
): number | null {
  if (wholeBytes === null || seconds === wholeSeconds) return wholeBytes;
  return seconds === null || wholeSeconds === null ? null : Math.round((wholeBytes * seconds) / wholeSeconds);
}

/** Copied audio can't start and end at an exact sample, so a clip's audio is encoded. */
function withExactAudio(streams: Streams): Streams {
  return { ...streams, audio: streams.audio && { ...streams.audio, action: 'transcode' } };
}

interface Streams extends PlannedStreams {
  readonly tracks: Expected['tracks'];
  readonly container: Plan['container'];
  readonly video: VideoPlan | null;
  readonly audio: AudioTrack | null;
  readonly isAudioAbsent?: boolean | undefined;
}

function streamsFor(extraction: Extraction, target: Target, settings: PlanSettings): Streams {
  if (isMp4Target(target)) return mp4Streams(extraction, target, settings);
  return target === 'mp3' ? mp3Streams(extraction) : originalStreams(extraction);
}

function originalStreams(extraction: Extraction): Streams {
  const format = audioFormat(extraction.selections.original);
  const audio = audioPlan(format, () => 'copy');
  // An audio file may be sent unchanged, whatever its codec.
  const container = audioContainer(audio.codec) ?? (isAudioFile(format) ? null : undefined);
  if (container === undefined) throw notCopyable(audio.codec);
  return { formats: [format], tracks: ['audio'], container, video: null, audio };
}

function isAudioFile({ source, hasVideo }: Format): boolean {
  return source.kind === 'file' && hasVideo !== true;
}

function mp3Streams(extraction: Extraction): Streams {
  const format = audioFormat(extraction.selections.mp3);
  const audio = audioPlan(format, mp3AudioAction);
  return { formats: [format], tracks: ['audio'], container: 'mp3', video: null, audio };
}

/** @throws DomainError `no_media` */
function audioFormat(selection: readonly Format[]): Format {
  const format = selection.find(({ hasAudio }) => hasAudio !== false);
  if (format === undefined) throw noAudio();
  return format;
}

function mp4Streams(extraction: Extraction, target: Mp4Target, { mp4Video }: PlanSettings): Streams {
  const selection = extraction.selections[target];
  const withVideo = selection.find(({ hasVideo }) => hasVideo !== false);
  if (withVideo === undefined) {
    throw new DomainError(
      'no_media',
      "This page has audio only, so it can't be sent as an MP4. Request an MP3 from `/api/stream`.",
    );
  }
  if (isImageCodec(withVideo.videoCodec ?? '')) throw isImages(withVideo);
  const withAudio = selection.find((format) => format !== withVideo && format.hasAudio !== false);
  const audio = withAudio ?? (withVideo.hasAudio === false ? undefined : withVideo);
  return {
    ...(withAudio === undefined
      ? { formats: [withVideo], tracks: ['all'] }
      : { formats: [withVideo, withAudio], tracks: ['video', 'audio'] }),
    container: 'mp4',
    video: videoPlan(withVideo, mp4Video, mp4ShortSides[target]),
    audio: audio === undefined ? null : audioPlan(audio, mp4AudioAction),
    isAudioAbsent: audio?.isAudioAbsent,
  };
}

function siteFileFor(target: Target, { formats, video, audio }: Streams): Plan['siteFile'] {
  const [format, second] = formats;
  if (format?.source.kind !== 'file' || second !== undefined) return null;
  if (target === 'original') return isAudioFile(format) ? 'audio' : null;
  const isCopied = (video ?? audio)?.action === 'copy' && (audio === null || audio.action === 'copy');
  const container = target === 'mp3' ? 'mp3' : 'mp4';
  const matchesExtension = format.ext === null || format.ext === container || format.ext === 'unknown_video';
  return isCopied && matchesExtension ? container : null;
}

function mayNeedOnlyHeader({ formats, container, video, audio }: Streams): boolean {
  return (
    container === 'mp4' &&
    video?.action === 'copy' &&
    (audio === null || (audio.action === 'copy' && (audio.track ?? 0) === 0)) &&
    formats.every(isMp4File)
  );
}

function videoPlan(
  { videoCodec, height, width, fps, hdr, hiddenVideoSeconds: hiddenSeconds }: Format,
  choice: Mp4VideoChoice,
  maxShortSide: number,
): VideoPlan {
  const codec = videoCodec ?? 'unknown';
  const action = mp4VideoAction(codec, choice);
  const isCopied = action === 'copy';
  return {
    ...(isCopied ? { height, width } : fitInto({ height, width }, maxShortSide)),
    action,
    codec,
    maxShortSide,
    fps,
    hdr,
    hiddenSeconds,
    plays: isCopied ? playersOf(codec) : 'everywhere',
  };
}

function audioPlan(format: Format, actionFor: (codec: string) => StreamAction): AudioTrack {
  const codec = format.audioCodec ?? 'unknown';
  // Bare ADTS has no times.
  const ignoresTimes = format.ext === 'aac';
  const { audioTrack: track, hiddenAudioSeconds: hiddenSeconds } = format;
  return { action: actionFor(codec), codec, track, hiddenSeconds, ignoresTimes };
}

function assertNotTooLong(
  { target, expected: { seconds }, estimatedBytes }: Pick<Plan, 'target' | 'expected' | 'estimatedBytes'>,
  limits: PlanSettings,
): void {
  if (seconds !== null && seconds > limits.maxDurationSeconds) {
    throw tooLong(seconds, limits.maxDurationSeconds);
  }
  if (estimatedBytes !== null && estimatedBytes > limits.maxOutputBytes) {
    throw tooLarge(target, estimatedBytes, limits);
  }
}
