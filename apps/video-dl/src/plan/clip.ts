import { InvalidRequestError } from '@media-services/http-common';
import type { Extraction } from '../extract/types.js';

/** The requested part, in seconds of the whole video. */
export interface ClipRequest {
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  /** Number of a chapter, from 1, instead of both. */
  readonly chapter?: number | undefined;
}

/** The part of a video that a stream contains. */
export interface Clip {
  readonly startSeconds: number;
  /** Null means to the end. */
  readonly endSeconds: number | null;
  /** Where to start reading; before the clip if its start can't be found otherwise. */
  readonly readFromSeconds: number;
}

/**
 * The part that the client requested, or else the section that the page shows.
 * @returns null for the whole video
 * @throws InvalidRequestError for a part outside the video
 */
export function clipOf(
  { section, durationSeconds, chapters }: Pick<Extraction, 'section' | 'durationSeconds' | 'chapters'>,
  { chapter, ...times }: ClipRequest,
): Clip | null {
  const { start, end } = chapter === undefined ? times : timesOf(chapter, chapters);
  const startSeconds = start ?? section?.startSeconds ?? 0;
  const wantedEnd = end ?? section?.endSeconds ?? null;
  if (durationSeconds !== null && startSeconds >= durationSeconds) throw startsAfterEnd(durationSeconds);
  if (wantedEnd !== null && wantedEnd <= startSeconds) {
    if (end === undefined)
      throw invalidStart(`must be before ${wantedEnd}, the end of the page's clip, unless you also send end`);
    throw new InvalidRequestError([
      { field: 'end', message: `must be after the clip's start (${startSeconds})` },
    ]);
  }
  const isToEnd = wantedEnd === null || (durationSeconds !== null && wantedEnd >= durationSeconds);
  if (startSeconds === 0 && isToEnd) return null;
  return { startSeconds, endSeconds: isToEnd ? null : wantedEnd, readFromSeconds: startSeconds };
}

function timesOf(number: number, chapters: Extraction['chapters']): ClipRequest {
  const chapter = chapters[number - 1];
  if (chapter !== undefined) return { start: chapter.startSeconds, end: chapter.endSeconds ?? undefined };
  const message =
    chapters.length === 0
      ? 'must be absent, because this page states no chapters'
      : `must be a whole number from 1 to ${chapters.length}, the number of chapters`;
  throw new InvalidRequestError([{ field: 'chapter', message }]);
}

/** Length of the clip in a video of this length. */
export function secondsIn(clip: Clip | null, videoSeconds: number): number {
  if (clip === null) return videoSeconds;
  const seconds = Math.min(clip.endSeconds ?? Infinity, videoSeconds) - clip.startSeconds;
  return Math.max(0, Math.round(seconds * 1e6) / 1e6);
}

/** The error for a clip that starts after the video has ended. */
export function startsAfterEnd(videoSeconds: number): InvalidRequestError {
  const seconds = Number(videoSeconds.toFixed(3));
  return invalidStart(`must be before the end of the video, which is ${seconds} s long`);
}

function invalidStart(message: string): InvalidRequestError {
  return new InvalidRequestError([{ field: 'start', message }]);
}
