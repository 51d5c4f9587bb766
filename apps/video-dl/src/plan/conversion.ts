import { DomainError } from '@media-services/http-common';
import type { LaidOut } from '../look/layouts.js';
import type { Learnt } from '../look/learnt.js';
import type { TrackChanges } from '../formats/joiner.js';
import { largestOf, type PictureSize } from '../formats/mpeg-ts/picture-size.js';
import { fitInto } from './estimate.js';
import type { Plan } from './plan.js';
import { noAudio } from './rejections.js';
import { noOriginalClip } from './window.js';

/** What looking at a file, or at the segments of a clip, shows about one of ffmpeg's inputs. */
export interface OpenedInput {
  readonly changes?: TrackChanges;
  /** Where a clip begins, the input has a frame of video that needs no earlier one. */
  readonly startsWithKeyFrame?: boolean;
  /** Its audio ends before the clip or starts after it, as the file states. */
  readonly lacksAudio?: boolean;
  /** For a clip of a file with audio: how long its audio is; null if the file doesn't state that. */
  readonly audioSeconds?: number | null;
}

/** ffmpeg keeps in memory what it reads before its output. */
const maxAnalysedBytes = 64 * 1024 ** 2;

/**
 * A plan for ffmpeg, with what earlier deliveries of its formats have shown.
 * @throws DomainError if no plan can help
 */
export function conversionOf(plan: Plan, learnt: readonly Learnt[]): Plan {
  if (plan.expected.clip !== null && plan.target === 'original') throw noOriginalClip();
  return learnt.reduce(withLearnt, withoutHiddenStart(plan));
}

/** The plan, once it is known what its inputs have. */
export function withInputs(whole: Plan, inputs: readonly OpenedInput[]): Plan {
  const size = largestOf(inputs[0]?.changes?.pictureSizes ?? []);
  const sized = size === undefined ? whole : withLearnt(whole, { kind: 'changes', track: 'video', size });
  const changesAudio = inputs.at(-1)?.changes?.changesAudio === true;
  const plan = changesAudio ? withLearnt(sized, { kind: 'changes', track: 'audio' }) : sized;
  if (plan.expected.clip === null) return plan;
  const { video, audio } = plan;
  const isCut = video?.action === 'copy' && inputs[0]?.startsWithKeyFrame !== true;
  const cut = isCut ? withEncodedVideo(plan) : plan;
  return video !== null && audio !== null && inputs.at(-1)?.lacksAudio === true
    ? { ...cut, audio: null }
    : cut;
}

/** The plan for only what a window has: no audio, where the video has none. */
export function withinWindow(plan: Plan, { layout, for: reader }: LaidOut): Plan {
  const { audio } = plan;
  if (audio === null || layout.tracks.every(({ type }) => type !== 'audio')) return { ...plan, audio: null };
  return { ...plan, audio: { ...audio, track: 0, ...(reader === 'player' && { action: 'copy' }) } };
}

/** An encoder's delay is shorter, including HE-AAC, except at low sample rates. */
export const maxHiddenAudioSeconds = 0.15;
/** Less than a frame. */
export const maxHiddenVideoSeconds = 0.01;

/**
 * Some players ignore the edit list of a fragmented MP4, and so does ffmpeg. To keep trimmed media
 * hidden, we re-encode tracks that start with it. Original audio only loses whole packets.
 */
function withoutHiddenStart(plan: Plan): Plan {
  const { video, audio } = plan;
  const hidesVideo = video?.action === 'copy' && (video.hiddenSeconds ?? 0) > maxHiddenVideoSeconds;
  const hidesAudio = audio?.action === 'copy' && (audio.hiddenSeconds ?? 0) > maxHiddenAudioSeconds;
  const shown = hidesVideo ? withEncodedVideo(plan) : plan;
  if (!hidesAudio) return shown;
  return plan.target === 'original'
    ? { ...shown, audio: { ...audio, skipsHidden: true } }
    : withEncodedAudio(shown);
}

function withLearnt(plan: Plan, learnt: Learnt): Plan {
  const { clip } = plan.expected;
  if (learnt.kind === 'changes') {
    if (plan[learnt.track]?.action !== 'copy') return plan;
    if (learnt.track === 'video') return withOneSize(withEncodedVideo(plan), learnt.size);
    if (plan.target === 'original') throw changesFormat(plan);
    return withEncodedAudio(plan);
  }
  if (learnt.kind === 'no_key_frame' && clip !== null)
    return {
      ...withEncodedVideo(plan),
      expected: { ...plan.expected, clip: { ...clip, readFromSeconds: 0 } },
    };
  if (learnt.kind === 'wrong_length') return { ...plan, statesWrongAudioLength: true };
  if (learnt.kind === 'no_audio') {
    if (plan.video === null) throw noAudio();
    return { ...plan, audio: null, awaitsAudio: clip === null };
  }
  // A clip may lie before what the whole stream has shown, and shows itself what it needs.
  if (clip !== null) return plan;
  if (learnt.kind === 'untimed_audio')
    return { ...plan, audio: plan.audio && { ...plan.audio, ignoresTimes: true } };
  return learnt.kind === 'late_audio' ? withLateAudio(plan, learnt) : plan;
}

function withLateAudio(plan: Plan, { at, seconds }: Extract<Learnt, { kind: 'late_audio' }>): Plan {
  if (plan.container !== 'mp4' || plan.audio !== null) return plan;
  if (at > maxAnalysedBytes) throw lateAudio();
  const audio = { action: 'transcode', codec: 'unknown' } as const;
  return { ...plan, audio, awaitsAudio: false, audioStart: { at, seconds }, estimatedBytes: null };
}

/** The size of encoded video can't be estimated. */
function withEncodedVideo(plan: Plan): Plan {
  return { ...plan, video: plan.video && { ...plan.video, action: 'transcode' }, estimatedBytes: null };
}

/** @param size of the largest frames, into which the others are fitted; absent if all have the same */
function withOneSize(plan: Plan, size?: PictureSize): Plan {
  const { video } = plan;
  if (video === null || size === undefined) return plan;
  return { ...plan, video: { ...video, ...fitInto(size, video.maxShortSide), changesSize: true } };
}

function withEncodedAudio(plan: Plan): Plan {
  return { ...plan, audio: plan.audio && { ...plan.audio, action: 'transcode' }, estimatedBytes: null };
}

export function lateAudio(): DomainError {
  return new DomainError(
    'no_media',
    "This video's audio begins late, so it can't be sent with the video. Try another format or page.",
  );
}

function changesFormat({ audio }: Plan): DomainError {
  return new DomainError(
    'no_media',
    `This video's audio (${audio?.codec ?? 'unknown'}) changes its sample rate or channels in the middle, so it can't be sent without re-encoding. Request an MP3 instead.`,
  );
}
