import type { FirstTimes, TrackChanges, TrackLengths } from '../formats/joiner.js';
import type { MediaInput } from '../formats/media-input.js';
import type { PictureSize } from '../formats/mpeg-ts/picture-size.js';
import { JoinedSegments, maxBeginningBytes } from './joined-segments.js';
import type { OpenedBytes } from './opened-resource.js';
import type { Parse } from '../parser-process/parser-pool.js';
import type { SegmentIndex } from './segment-list.js';

/** The part of a source to read, in seconds. */
export interface TimeSpan {
  readonly startSeconds: number;
  /** Null means to the end. */
  readonly endSeconds: number | null;
}

/** Players and packagers round times to this. */
const roundingSeconds = 0.001;
/** How far audio may lag behind the video of the same segment. */
const audioLagSeconds = 0.1;
/** Enough for a keyframe and everything up to the first audio. */
const maxClipBeginningBytes = 2 * 1024 ** 2;
/** How far before a clip to look for a segment that begins with a key frame. */
const maxStepsBack = 5;
/** How many discontinuities we look behind in advance. */
const maxLooksAhead = 8;
const whole = { first: 0, end: Infinity };

/** What to read of a source. */
interface Reading {
  /** Null means all of it. */
  readonly span: TimeSpan | null;
  /** The video doesn't matter, and a clip needs audio from slightly before its start. */
  readonly readsAudioOnly: boolean;
}

/** Segments, all or some of them, as one byte stream. */
export class OpenedSegments implements OpenedBytes {
  /** Only reading them tells. */
  readonly total = null;
  readonly #parse: Parse;
  readonly #index: SegmentIndex;
  readonly #reading: Reading;
  #window: SegmentWindow | null = null;
  #joined: JoinedSegments | null = null;
  /** Behind discontinuities. */
  #ahead: { readonly sizes: readonly PictureSize[]; readonly changesAudio: boolean } | null = null;

  constructor(index: SegmentIndex, parse: Parse, reading: Reading) {
    this.#index = index;
    this.#parse = parse;
    this.#reading = reading;
  }

  /** Of the media that was read; null if they aren't measured. */
  get lengths(): TrackLengths | null {
    return this.#joined?.media.lengths ?? null;
  }

  /** So far, and as `lookAhead` has found them. */
  get changes(): TrackChanges {
    const changes = this.#joined?.media.changes ?? {};
    if (this.#ahead === null) return changes;
    const { changesAudio = false, pictureSizes = [] } = changes;
    return {
      ...changes,
      changesAudio: changesAudio || this.#ahead.changesAudio,
      pictureSizes: [...pictureSizes, ...this.#ahead.sizes],
    };
  }

  /**
   * Reads the first bytes of the media.
   * @throws TransferFault, `signal.reason`
   */
  async open(signal: AbortSignal): Promise<Omit<MediaInput, 'url'>> {
    const { span } = this.#reading;
    const joined = span === null ? this.#join(signal) : await this.#locate(span, signal);
    this.#joined = joined;
    await joined.begin(maxBeginningBytes);
    // No reader may ever connect.
    signal.addEventListener('abort', () => joined.discard(), { once: true });
    const { analysis, probing, statedSeconds } = joined;
    const { startSeconds, firstTimes, firstFrame, hiddenSeconds = 0 } = joined.media;
    const window = this.#window;
    return {
      startSeconds: (window === null ? null : firstTime(firstTimes)) ?? startSeconds,
      offsetSeconds: window?.startSeconds ?? null,
      keyFrameSeconds: firstFrame === 'other' ? null : (window?.videoSeconds ?? null),
      hasTransportKeyFrame: firstFrame === 'key',
      hiddenSeconds,
      analysis,
      probing,
      statedSeconds,
    };
  }

  /** Finds the segments of a span, first by their stated durations, then by the timestamps in the media. */
  async #locate({ startSeconds, endSeconds }: TimeSpan, signal: AbortSignal): Promise<JoinedSegments> {
    const list = await this.#index.list(signal);
    const { readsAudioOnly } = this.#reading;
    const start = readsAudioOnly ? Math.max(0, startSeconds - audioLagSeconds) : startSeconds;
    const endAt = (driftSeconds: number) =>
      endSeconds === null ? list.length : list.segmentAt(endSeconds + audioLagSeconds - driftSeconds) + 1;
    let first = list.segmentAt(start + roundingSeconds);
    let zero: number | null = null;
    let stepsBack = 0;
    if (first > 0) {
      const beginning = this.#join(signal, { first: 0, end: 1 });
      await beginning.begin(maxClipBeginningBytes);
      const { firstTimes, isOneStream = false } = beginning.media;
      zero = zeroOf(firstTimes);
      beginning.discard();
      if (isOneStream) {
        this.#window = { first: 0, end: Infinity, startSeconds: 0, videoSeconds: 0 };
        return this.#join(signal);
      }
    }
    for (;;) {
      const joined = this.#join(signal, { first, end: Math.max(first + 1, endAt(0)) });
      await joined.begin(maxClipBeginningBytes);
      const { firstTimes, firstFrame } = joined.media;
      const segmentZero = zeroOf(firstTimes);
      zero ??= segmentZero;
      const stated = list.startOf(first);
      // The other track may start before the one that defines second 0.
      const lead = segmentZero === null ? 0 : segmentZero - (firstTime(firstTimes) ?? segmentZero);
      const offset = segmentOffset(
        segmentZero === null || zero === null ? null : segmentZero - zero,
        stated,
        list.discontinuities(first).next().done === true,
      );
      const isBefore = first === 0 || offset <= start + roundingSeconds;
      const needsKeyFrame = first > 0 && !readsAudioOnly && firstFrame === 'other';
      if (isBefore && needsKeyFrame) stepsBack += 1;
      if (isBefore && !(needsKeyFrame && stepsBack <= maxStepsBack)) {
        const end = Math.max(first + 1, endAt(stated === null ? 0 : offset - stated));
        this.#window = { first, end, startSeconds: offset - lead, videoSeconds: offset };
        if (!joined.hasEnded) joined.setEnd(end);
        return joined.hasEnded ? this.#join(signal, this.#window) : joined;
      }
      joined.discard();
      first -= 1;
    }
  }

  #join(signal: AbortSignal, { first, end }: Pick<SegmentWindow, 'first' | 'end'> = whole) {
    const { readsAudioOnly } = this.#reading;
    return new JoinedSegments(this.#index, this.#parse, signal, { first, end, readsAudioOnly });
  }

  /** Reads sizes of H.264 and formats of AAC behind discontinuities. The segments are requested again in their turn. */
  async lookAhead(signal: AbortSignal): Promise<void> {
    const { pictureSizes, audioFormat } = this.changes;
    if (pictureSizes?.length !== 1) return;
    const { first, end } = this.#window ?? whole;
    const list = await this.#index.list(signal);
    const marked = [...list.discontinuities(Math.min(end, list.length) - 1)].filter(
      (number) => number > first,
    );
    const ahead = await Promise.all(
      marked.slice(0, maxLooksAhead).map(async (number) => {
        const beginning = this.#join(signal, { first: number, end: number + 1 });
        // A failure surfaces when its turn comes.
        await beginning.begin(maxBeginningBytes).catch(() => undefined);
        beginning.discard();
        return beginning.media.changes ?? {};
      }),
    );
    signal.throwIfAborted();
    this.#ahead = {
      sizes: ahead.flatMap((changes) => changes.pictureSizes ?? []),
      changesAudio: ahead.some((changes) => (changes.audioFormat ?? audioFormat) !== audioFormat),
    };
  }

  chunks(): AsyncIterable<Buffer> {
    if (this.#joined === null) throw new Error('the segments have been opened');
    return this.#joined.chunks();
  }
}

/** A range of segments. */
interface SegmentWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** Time of its first sample in the source, in seconds. */
  readonly startSeconds: number;
  /** Time of its first frame of video, or of its first sample if it has only audio. */
  readonly videoSeconds: number;
}

/** Second 0 is the first video frame. Audio may start a little earlier because of an encoder's delay. */
function zeroOf({ video, audio }: FirstTimes): number | null {
  return video ?? audio;
}

function firstTime({ video, audio }: FirstTimes): number | null {
  return video === null || audio === null ? (video ?? audio) : Math.min(video, audio);
}

/** Start of a segment: as measured, unless its clock differs from that of the first segment. */
function segmentOffset(measured: number | null, stated: number | null, isContinuous: boolean): number {
  if (measured === null || stated === null) return measured ?? stated ?? 0;
  return isContinuous && Math.abs(measured - stated) <= 2 + stated * 0.02 ? measured : stated;
}
