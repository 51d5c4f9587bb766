import { DomainError } from '@media-services/http-common';
import { noAudio, type Plan } from './plan.js';

/** What only reading a source shows about the plan that it needs. */
export type Remedy =
  | { readonly kind: 'encode'; readonly track: 'video' | 'audio' }
  /** It is bare audio whose sample rate changes, so times that ffmpeg counts at one rate are wrong. */
  | { readonly kind: 'untimed_audio' }
  /** Its audio begins at this byte and time. */
  | { readonly kind: 'late_audio'; readonly at: number; readonly seconds: number }
  /** It states audio and has none. */
  | { readonly kind: 'no_audio' }
  /** Its video has no key frame near the beginning. */
  | { readonly kind: 'no_key_frame' };

/** ffmpeg keeps in memory what it reads before its output. */
const maxAnalysedBytes = 64 * 1024 ** 2;

/** @throws DomainError if no plan can help */
export function withRemedy(plan: Plan, remedy: Remedy): Plan {
  if (remedy.kind === 'encode') {
    if (plan[remedy.track]?.action !== 'copy') return plan;
    if (remedy.track === 'video') return withEncodedVideo(plan);
    if (plan.target === 'original') throw changesFormat(plan);
    return withEncodedAudio(plan);
  }
  if (remedy.kind === 'untimed_audio')
    return { ...plan, audio: plan.audio && { ...plan.audio, ignoresTimes: true } };
  if (remedy.kind === 'no_audio') {
    if (plan.video === null) throw noAudio();
    return { ...plan, audio: null };
  }
  if (remedy.kind === 'no_key_frame')
    return { ...plan, video: plan.video && { ...plan.video, lacksKeyFrame: true } };
  if (plan.container !== 'mp4' || plan.audio !== null) return plan;
  const { at, seconds } = remedy;
  if (at > maxAnalysedBytes) throw lateAudio();
  const audio = { action: 'transcode', codec: 'unknown' } as const;
  return { ...plan, audio, audioStart: { at, seconds }, estimatedBytes: null };
}

/** The size of encoded video can't be estimated. */
export function withEncodedVideo(plan: Plan): Plan {
  return { ...plan, video: plan.video && { ...plan.video, action: 'transcode' }, estimatedBytes: null };
}

export function withEncodedAudio(plan: Plan): Plan {
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
