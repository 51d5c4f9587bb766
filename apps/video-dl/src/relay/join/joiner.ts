import { DomainError } from '@media-services/http-common';
import { TransferFault } from '../../upstream/transfer-fault.js';

/** What is known of a segment before its bytes come. */
export interface SegmentFacts {
  /** As the playlist states it; null where it does not. */
  readonly seconds: number | null;
  /** To whole seconds: nothing can be measured against it. */
  readonly isRounded: boolean;
  /** The playlist says that clock, tracks or encoding may change here. */
  readonly isDiscontinuity: boolean;
  /** What has to be read before it; null where that is a segment of its own, or not needed. */
  readonly initialisation: number | object | null;
}

/** Makes one stream out of segments, and checks that each is what it should be. */
export interface Joiner {
  begin(facts: SegmentFacts): void;
  /**
   * @param chunk of at most 64 KiB, which the joiner may change; the work for it is bounded
   * @throws TransferFault for bytes that do not belong in such a segment
   */
  push(chunk: Buffer): readonly Buffer[];
  /** @throws TransferFault when the segment is not whole */
  end(): readonly Buffer[];
  /** After the last segment. @throws TransferFault */
  finish(): void;
  /** The first presentation time, in seconds by the source's own clock; null where it has none or none has come yet. */
  readonly startSeconds: number | null;
  /** The same for each kind of track. */
  readonly firstTimes: FirstTimes;
  /** Segments that are slices of one stream can be read from the first to the last only. */
  readonly isOneStream?: boolean;
  /** Audio at the beginning that an edit list hides, such as a long encoder delay; it belongs in no result. */
  readonly hiddenSeconds?: number;
  /** Of what has passed; null where it is not counted. */
  readonly lengths: TrackLengths | null;
}

/** Seconds by the source's own clock; null where none has come yet. */
export interface FirstTimes {
  readonly video: number | null;
  readonly audio: number | null;
  /** Every track of audio and video has one. */
  readonly areAllKnown: boolean;
}

/** How much of a medium's sound and pictures there is, in seconds; null where there are none. */
export interface TrackLengths {
  readonly video: number | null;
  readonly audio: number | null;
  /** Of the sound, without content between its first and its last sample. */
  readonly audioGaps: number;
}

/** The bytes are not the medium they should be. Asking again does not help. */
export function damaged(what: string): TransferFault {
  const detail = `The media of the site is damaged: ${what}. Try again later.`;
  return new TransferFault(new DomainError('upstream_error', detail), 'none');
}

/** The media are intact, but their parts can't become one file. */
export function notJoinable(what: string): TransferFault {
  const detail = `The video ${what}, so that its parts cannot be put into one file. Another format or page of it may do.`;
  return new TransferFault(new DomainError('no_media', detail), 'none');
}
