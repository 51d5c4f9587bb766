import { InvalidRequestError } from '@media-services/http-common';
import type { Extraction } from '../extract/types.js';

/** What a client asks for, in seconds of the whole video. */
export interface ClipRequest {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
}

/** The part of a video that a stream contains. */
export interface Clip {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
  /** Where reading begins: earlier than the clip where its start can't be found otherwise. */
  readonly readFromSeconds: number;
}

/**
 * The part that a client asks for, or the one that the page is about.
 * @returns null for the whole video
 * @throws InvalidRequestError for a part that the video doesn't have
 */
export function clipOf(
  { section, durationSeconds }: Pick<Extraction, 'section' | 'durationSeconds'>,
  { start, end }: ClipRequest,
): Clip | null {
  const startSeconds = start ?? section?.startSeconds ?? 0;
  const wantedEnd = end ?? section?.endSeconds ?? null;
  if (durationSeconds !== null && startSeconds >= durationSeconds)
    throw invalidStart(`must be before the end of the video, which lasts ${durationSeconds} s`);
  if (wantedEnd !== null && wantedEnd <= startSeconds) {
    if (end === undefined)
      throw invalidStart(`must be before ${wantedEnd}, where the page's clip ends; or send end too`);
    throw new InvalidRequestError([
      { field: 'end', message: `must be after the clip's start, ${startSeconds}` },
    ]);
  }
  const isToEnd = wantedEnd === null || (durationSeconds !== null && wantedEnd >= durationSeconds);
  if (startSeconds === 0 && isToEnd) return null;
  return { startSeconds, endSeconds: isToEnd ? null : wantedEnd, readFromSeconds: startSeconds };
}

/** How many of the video's seconds are in the clip. */
export function secondsIn(clip: Clip | null, videoSeconds: number): number {
  if (clip === null) return videoSeconds;
  const seconds = Math.min(clip.endSeconds ?? Infinity, videoSeconds) - clip.startSeconds;
  return Math.max(0, Math.round(seconds * 1e6) / 1e6);
}

function invalidStart(message: string): InvalidRequestError {
  return new InvalidRequestError([{ field: 'start', message }]);
}
