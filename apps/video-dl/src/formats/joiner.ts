import type { PictureSize } from './mpeg-ts/picture-size.js';

/** What the playlist says about a segment. */
export interface SegmentFacts {
  /** Stated duration; null if not stated. */
  readonly seconds: number | null;
  /** Rounded to whole seconds, so too inexact to check against. */
  readonly isRounded: boolean;
  /** The clock, tracks or encoding may change here. */
  readonly isDiscontinuity: boolean;
  /** The initialisation that precedes it; null if that is a separate segment, or not needed. */
  readonly initialisation: number | object | null;
  /** Null for a whole file. */
  readonly range?: object | null;
}

/** What a reader notices about tracks while it reads a stream. */
export interface TrackChanges {
  /** The parameters of its audio have changed, so that a copy would keep the wrong ones. */
  readonly changesAudio?: boolean;
  /** Its audio only begins later. */
  readonly addsAudio?: boolean;
  /** Its audio begins later and is left out. */
  readonly omitsAudio?: boolean;
  /** The sizes of its H.264 or HEVC so far. */
  readonly pictureSizes?: readonly PictureSize[];
  /** Of its first AAC, as {@link FormatWatch} compares them. */
  readonly audioFormat?: number | undefined;
  /** Whether any audio has come so far. */
  readonly hasAudio?: boolean;
}

/** Joins segments into one stream and checks each of them. */
export interface Joiner {
  begin(facts: SegmentFacts): void;
  /**
   * @param chunk at most 64 KiB, to bound the work per call; the joiner may modify it
   * @throws Rejection for bytes that aren't valid in such a segment
   */
  push(chunk: Buffer): readonly Buffer[];
  /** @throws Rejection when the segment is incomplete */
  end(): readonly Buffer[];
  /** Call after the last segment. @throws Rejection */
  finish(): void;
  /** Absent if its tracks can't change. */
  readonly changes?: TrackChanges;
  /** The first presentation time in seconds on the source's clock; null if it has none, or not yet. */
  readonly startSeconds: number | null;
  /** The first presentation time of each kind of track. */
  readonly firstTimes: FirstTimes;
  /** The segments are slices of one stream and can only be read from the first to the last. */
  readonly isOneStream?: boolean;
  /** How its video begins; null if that isn't known yet, absent if we can't tell. */
  readonly firstFrame?: FirstFrameKind | null | undefined;
  /** From its first video frame to the second; null if that isn't known yet, absent if we can't tell. */
  readonly frameSeconds?: number | null;
  /** Whether its header states the codecs and sizes of all tracks. */
  readonly listsTracks?: boolean;
  /** Seconds of audio at the beginning that an edit list hides, such as a long encoder delay; never part of the output. */
  readonly hiddenSeconds?: number;
  /** Lengths so far; null if they aren't measured. */
  readonly lengths: TrackLengths | null;
}

/** A frame that needs no other, a point from which on decoding becomes right, or one that needs earlier frames. */
export type FirstFrameKind = 'key' | 'recovery' | 'other';

/** Seconds on the source's clock; null if not seen yet. */
export interface FirstTimes {
  readonly video: number | null;
  readonly audio: number | null;
  /** Whether each audio and video track has one. */
  readonly areAllKnown: boolean;
}

/** Lengths of the audio and video in seconds; null for a missing track. */
export interface TrackLengths {
  readonly video: number | null;
  readonly audio: number | null;
}
