import { DomainError, InvalidRequestError } from '@media-services/http-common';
import type { Extraction, Format, Target } from '../extract/types.js';
import type { MediaSource } from '../upstream/media-source.js';
import { clipOf, secondsIn, type Clip, type ClipRequest } from './clip.js';
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
} from './codecs.js';
import { estimateAudioBytes, estimateMp4Bytes } from './estimate.js';
import { fitInto, type Size } from './size.js';

/** `height` and `width` are those of the result. */
export interface VideoPlan extends Size {
  readonly action: StreamAction;
  /** Of the source. */
  readonly codec: string;
  /** What the shorter side may have where it is encoded here, in pixels. */
  readonly maxShortSide: number;
  readonly fps: number | null;
  readonly plays: Players;
}

export interface AudioPlan {
  readonly action: StreamAction;
  readonly codec: string;
}

/** What the stream must contain: the relay delivers it, and verification measures the result against it. */
export interface Expected {
  /** Which track is read of each input. */
  readonly tracks: readonly ('all' | 'video' | 'audio')[];
  /** Of the stream, as the page states it; null where it doesn't. */
  readonly seconds: number | null;
  /** The part of the video that the stream contains; null for all of it. */
  readonly clip: Clip | null;
}

/** What one target will yield, and from what. */
export interface Plan {
  readonly target: Target;
  /** One source with everything, or two: video, then audio. */
  readonly inputs: readonly MediaSource[];
  readonly formatIds: readonly string[];
  readonly video: VideoPlan | null;
  readonly audio: AudioPlan | null;
  /** What is made of the sources; null where nothing can be made, and only the site's own file will do. */
  readonly container: 'mp4' | AudioContainer | null;
  /** What the site's own file must be so that its bytes are the response (`audio`: any file of audio); null: make it in any case. */
  readonly siteFile: 'mp4' | 'mp3' | 'audio' | null;
  readonly expected: Expected;
  readonly estimatedBytes: number | null;
  readonly title: string;
  readonly uploader: string | null;
  readonly webpageUrl: string;
  readonly thumbnail: string | null;
}

/** What the operator has set. */
export interface PlanSettings {
  readonly maxDurationSeconds: number;
  readonly maxOutputBytes: number;
  readonly mp4Video: Mp4VideoChoice;
}

/**
 * Decides what a target is made of: which formats, and copy or transcode by codec.
 * @throws DomainError `no_media` where the page has nothing for this target, `too_long`, `invalid_request` for a clip that the video doesn't have
 */
export function planTarget(
  extraction: Extraction,
  target: Target,
  settings: PlanSettings,
  asked: ClipRequest = {},
): Plan {
  const { durationSeconds } = extraction;
  const clip = clipOf(extraction, asked);
  if (clip !== null && target === 'original') throw new InvalidRequestError([originalClipError]);
  const whole = streamsFor(extraction, target, settings);
  const streams = clip === null ? whole : withExactAudio(whole);
  const estimate = {
    formats: streams.formats,
    durationSeconds,
    transcodesVideo: streams.video?.action === 'transcode',
    transcodesAudio: streams.audio?.action === 'transcode',
  };
  const wholeBytes = streams.container === 'mp4' ? estimateMp4Bytes(estimate) : estimateAudioBytes(estimate);
  const seconds = durationSeconds === null ? lengthOf(clip) : secondsIn(clip, durationSeconds);
  const estimatedBytes = shareOf(wholeBytes, seconds, durationSeconds);
  const expected = { tracks: streams.tracks, seconds, clip };
  assertNotTooLong({ target, expected, estimatedBytes }, settings);
  return {
    target,
    inputs: streams.formats.map(({ source }) => source),
    formatIds: streams.formats.map(({ id }) => id),
    video: streams.video,
    audio: streams.audio,
    container: streams.container,
    siteFile: siteFileFor(target, streams),
    expected,
    estimatedBytes,
    title: extraction.title,
    uploader: extraction.uploader,
    webpageUrl: extraction.webpageUrl,
    thumbnail: extraction.thumbnail,
  };
}

/** Only encoded audio can be cut at any sample. */
const originalClipError = {
  field: 'fmt',
  message: 'must be mp3 for a clip: original audio is sent as a whole',
};

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

/** Only encoded audio can begin and end at any sample. */
function withExactAudio(streams: Streams): Streams {
  return { ...streams, audio: streams.audio && { ...streams.audio, action: 'transcode' } };
}

interface Streams {
  readonly formats: readonly Format[];
  readonly tracks: Expected['tracks'];
  readonly container: Plan['container'];
  readonly video: VideoPlan | null;
  readonly audio: AudioPlan | null;
}

function streamsFor(extraction: Extraction, target: Target, settings: PlanSettings): Streams {
  switch (target) {
    case 'mp3':
      return mp3Streams(extraction);
    case 'original':
      return originalStreams(extraction);
    default:
      return mp4Streams(extraction, target, settings);
  }
}

function originalStreams(extraction: Extraction): Streams {
  const format = audioFormat(extraction.selections.original);
  const audio = audioPlan(format, () => 'copy');
  // A file of audio may be sent as it is, whatever its codec.
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
  if (format === undefined) {
    throw new DomainError(
      'no_media',
      'This video has no audio, so there is none to send. `/api/info` lists what the page offers.',
    );
  }
  return format;
}

const shortSides = { 'mp4-720': 720, 'mp4-1080': 1080 };

function mp4Streams(
  extraction: Extraction,
  target: keyof typeof shortSides,
  { mp4Video }: PlanSettings,
): Streams {
  const selection = extraction.selections[target];
  const withVideo = selection.find(({ hasVideo }) => hasVideo !== false);
  if (withVideo === undefined) {
    throw new DomainError(
      'no_media',
      'This page has audio only, so it cannot become an MP4. Request an MP3 from `/api/stream`.',
    );
  }
  const withAudio = selection.find((format) => format !== withVideo && format.hasAudio !== false);
  const audio = withAudio ?? (withVideo.hasAudio === false ? undefined : withVideo);
  return {
    ...(withAudio === undefined
      ? { formats: [withVideo], tracks: ['all'] }
      : { formats: [withVideo, withAudio], tracks: ['video', 'audio'] }),
    container: 'mp4',
    video: videoPlan(withVideo, mp4Video, shortSides[target]),
    audio: audio === undefined ? null : audioPlan(audio, mp4AudioAction),
  };
}

function siteFileFor(target: Target, { formats, video, audio }: Streams): Plan['siteFile'] {
  const [format, second] = formats;
  if (format?.source.kind !== 'file' || second !== undefined) return null;
  if (target === 'original') return isAudioFile(format) ? 'audio' : null;
  const isCopied = (video ?? audio)?.action === 'copy' && (audio === null || audio.action === 'copy');
  const container = target === 'mp3' ? 'mp3' : 'mp4';
  const isNamedSo = format.ext === null || format.ext === container || format.ext === 'unknown_video';
  return isCopied && isNamedSo ? container : null;
}

function videoPlan(
  { videoCodec, height, width, fps }: Format,
  choice: Mp4VideoChoice,
  maxShortSide: number,
): VideoPlan {
  const codec = videoCodec ?? 'unknown';
  const action = mp4VideoAction(codec, choice);
  const isCopied = action === 'copy';
  return {
    ...(isCopied ? { height, width } : fitInto({ height, width }, maxShortSide)),
    ...{ action, codec, maxShortSide, fps, plays: isCopied ? playersOf(codec) : 'everywhere' },
  };
}

function audioPlan(format: Format, actionFor: (codec: string) => StreamAction): AudioPlan {
  const codec = format.audioCodec ?? 'unknown';
  return { action: actionFor(codec), codec };
}

function assertNotTooLong(
  { target, expected: { seconds }, estimatedBytes }: Pick<Plan, 'target' | 'expected' | 'estimatedBytes'>,
  limits: PlanSettings,
): void {
  if (seconds !== null && seconds > limits.maxDurationSeconds) {
    throw new DomainError(
      'too_long',
      `The video lasts ${Math.round(seconds)} s; this service takes at most ${limits.maxDurationSeconds} s. Use a shorter one; as the operator, raise VIDEO_MAX_SECONDS.`,
    );
  }
  if (estimatedBytes !== null && estimatedBytes > limits.maxOutputBytes) {
    throw tooLarge(target, `would have about ${estimatedBytes} bytes`, limits);
  }
}

/** Why audio isn't sent as the site has it. */
export function notCopyable(codec: string): DomainError {
  return new DomainError(
    'no_media',
    `This video's audio (${codec}) can't be put into an M4A, Ogg or MP3 file without re-encoding. Request an MP3 instead.`,
  );
}

/** Why a stream is not made, or not made to its end. @param how large it is, as a predicate */
export function tooLarge(
  target: Target,
  how: string,
  { maxOutputBytes }: Pick<PlanSettings, 'maxOutputBytes'>,
): DomainError {
  const smaller = target === 'mp4-1080' ? 'Ask for mp4-720' : 'Use a shorter video';
  return new DomainError(
    'too_long',
    `The result ${how}; this service makes at most ${maxOutputBytes}. ${smaller}; as the operator, raise STREAM_MAX_BYTES.`,
  );
}
