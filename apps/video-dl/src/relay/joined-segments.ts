import { inChunks } from '@media-services/egress-guard';
import { joinerFor, sniffedBytes } from '../formats/joiner-for.js';
import type { Joiner } from '../formats/joiner.js';
import type { Analysis } from '../formats/media-input.js';
import { LeadingImage } from '../formats/mpeg-ts/leading-image.js';
import { notJoinable, Rejection } from '../formats/rejection.js';
import { faultFrom, protocolFault, TransferFault } from '../upstream/transfer-fault.js';
import type { Parse } from '../parser-process/parser-pool.js';
import type { Segment, SegmentIndex, SegmentList } from './segment-list.js';
import { SegmentReader, type SegmentBytes } from './segment-reader.js';

const partsRemedy =
  'Request an MP3 from `/api/stream`, or use `start` and `end` to request a part without the change.';

/** The segments to join, by their numbers. */
interface JoinedRange {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** The video is ignored, so its encoding may change. */
  readonly readsAudioOnly: boolean;
}

/** What joiners know of the media so far. */
type JoinedMedia = Omit<Joiner, 'begin' | 'push' | 'end' | 'finish'>;

const nothingYet: JoinedMedia = {
  startSeconds: null,
  firstTimes: { video: null, audio: null, areAllKnown: false },
  lengths: null,
};

export const maxBeginningBytes = 64 * 1024;
/** The tracks of a transport stream begin at different places. */
const maxTransportBytes = 1024 ** 2;

/** One pass over the segments. */
export class JoinedSegments {
  readonly #index: SegmentIndex;
  readonly #reader: SegmentReader;
  readonly #parse: Parse;
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncGenerator<Buffer, void, void>;
  #joiner: Joiner | null = null;
  #beginning: Buffer | null = null;
  readonly #range: JoinedRange;
  #end: number;
  hasEnded = false;
  analysis: Analysis | undefined;
  probing: Analysis | undefined;
  statedSeconds: number | null = null;

  constructor(index: SegmentIndex, parse: Parse, signal: AbortSignal, range: JoinedRange) {
    this.#range = range;
    this.#end = range.end;
    this.#index = index;
    this.#reader = new SegmentReader(index);
    this.#parse = parse;
    this.#signal = signal;
    this.#chunks = this.#read();
  }

  get media(): JoinedMedia {
    return this.#joiner ?? nothingYet;
  }

  /** @param end exclusive, and not reached yet */
  setEnd(end: number): void {
    this.#end = end;
  }

  /** Reads up to the first frame; if `maxBytes` exceeds the default, up to the first media of each track. */
  async begin(maxBytes: number): Promise<void> {
    if (this.#beginning !== null) return;
    const needsAllTracks = () => maxBytes > maxBeginningBytes || this.#hasFrames;
    const isKnown = () =>
      this.media.firstFrame !== null &&
      (this.media.firstFrame !== 'key' || this.media.frameSeconds !== null) &&
      (needsAllTracks() ? this.media.firstTimes.areAllKnown : this.media.startSeconds !== null);
    const limit = () => (this.#hasFrames ? Math.max(maxBytes, maxTransportBytes) : maxBytes);
    const parts: Buffer[] = [];
    let bytes = 0;
    while (!isKnown() && bytes < limit()) {
      const next = await this.#chunks.next();
      if (next.done) {
        this.hasEnded = true;
        break;
      }
      parts.push(next.value);
      bytes += next.value.length;
    }
    this.#beginning = Buffer.concat(parts);
    const { firstFrame, listsTracks } = this.media;
    const short = shortAnalysis(this.media, this.#beginning.length);
    if (firstFrame === 'key') this.analysis = short;
    if (short !== undefined && (firstFrame === 'key' || listsTracks === true))
      this.probing = { ...short, seconds: short.seconds - 0.5 };
  }

  /** Whether it is a transport stream with video whose first frame can be looked at. */
  get #hasFrames(): boolean {
    return this.media.firstFrame !== undefined;
  }

  /** Abandons the pass. */
  discard(): void {
    // Nobody is left to handle an error.
    this.#chunks.return().catch(() => undefined);
  }

  async *chunks(): AsyncGenerator<Buffer, void, void> {
    const beginning = this.#beginning;
    this.#beginning = null;
    try {
      if (beginning !== null && beginning.length > 0) yield beginning;
      yield* this.#chunks;
    } finally {
      await this.#chunks.return();
    }
  }

  /**
   * Requests the next segment while the current one is read, to hide the round trip. The beginning of the first one
   * comes alone, because its reader waits for it and the next one would take half of the link.
   */
  async *#read(): AsyncGenerator<Buffer, void, void> {
    let initialisation: number | null = null;
    let next: Promise<SegmentBytes> | null = null;
    const { first } = this.#range;
    try {
      const list = await this.#index.list(this.#signal);
      if (list.length === 0) throw protocolFault('lists no segments');
      this.statedSeconds = list.totalSeconds;
      this.#end = Math.min(this.#end, list.length);
      await this.#assertJoinable(list);
      for (let number = first; number < this.#end; number += 1) {
        const segment = list.segment(number);
        const bytes = await (next ?? this.#open(list, number)).catch((error: unknown) => {
          if (segment.mayBeAbsent && isNotFound(error)) return null;
          throw error;
        });
        next = number > first ? this.#openNext(list, number) : null;
        if (bytes === null) continue;
        const prefix =
          segment.initialisation === null || segment.initialisation === initialisation
            ? null
            : await this.#reader.initialisation(segment.initialisation, this.#signal);
        initialisation = segment.initialisation;
        let readBytes = 0;
        for await (const part of this.#join(segment, prefix, bytes, list.length === 1)) {
          yield part;
          readBytes += part.length;
          if (readBytes >= maxTransportBytes) next ??= this.#openNext(list, number);
        }
      }
      this.#joiner?.finish();
    } catch (error) {
      throw error instanceof Rejection ? faultFrom(error) : error;
    } finally {
      next?.then((unread) => unread.discard()).catch(() => undefined);
    }
  }

  /**
   * Compares the initialisations before the first byte is sent, so that media that can't be
   * joined fail with an error instead of a broken stream.
   */
  async #assertJoinable(list: SegmentList): Promise<void> {
    if (list.initialisationCount < 2) return;
    const numbers = new Set<number>();
    const { readsAudioOnly } = this.#range;
    for (let number = this.#range.first; number < this.#end; number += 1) {
      const { initialisation } = list.segment(number);
      if (initialisation !== null) numbers.add(initialisation);
    }
    if (numbers.size < 2) return;
    let first: string | null = null;
    for (const number of numbers) {
      const bytes = await this.#reader.initialisation(number, this.#signal);
      const digest = await this.#parse({ kind: 'initialisation', bytes, readsAudioOnly }, this.#signal);
      first ??= digest;
      if (digest !== null && digest !== first)
        throw notJoinable('changes its encoding in the middle', readsAudioOnly ? undefined : partsRemedy);
    }
  }

  async *#join(
    segment: Segment,
    initialisation: Buffer | null,
    bytes: SegmentBytes,
    isOnly: boolean,
  ): AsyncGenerator<Buffer, void, void> {
    const image = new LeadingImage();
    let head = Buffer.alloc(0);
    this.#joiner?.begin(segment);
    const join = (media: Buffer, isLast: boolean): readonly Buffer[] => {
      if (this.#joiner !== null) return media.length === 0 ? [] : this.#joiner.push(media);
      head = Buffer.concat([head, media]);
      if (head.length < sniffedBytes && !isLast) return [];
      this.#joiner = joinerFor(head, isOnly && initialisation === null, this.#range.readsAudioOnly);
      this.#joiner.begin(segment);
      return this.#joiner.push(head);
    };
    for await (const chunk of chain(initialisation, bytes.chunks()))
      yield* mergeSmallParts(join(image.push(chunk), false));
    yield* mergeSmallParts(join(image.end(), true));
    yield* mergeSmallParts(this.#joiner?.end() ?? []);
  }

  #openNext(list: SegmentList, number: number): Promise<SegmentBytes> | null {
    return number + 1 < this.#end ? this.#open(list, number + 1) : null;
  }

  #open(list: SegmentList, number: number): Promise<SegmentBytes> {
    const opening = this.#reader.open(number, list.segment(number), this.#signal);
    // A failure surfaces when its turn comes.
    opening.catch(() => undefined);
    return opening;
  }
}

/**
 * How far ffmpeg has to look in a transport stream that shows a key frame and all its tracks at its beginning. Others could still
 * come, so ffmpeg would read 5 s or 5 MB before its first output. A frame ends where the next one begins.
 */
function shortAnalysis(
  { firstTimes: { video, audio, areAllKnown }, frameSeconds = 0 }: JoinedMedia,
  readBytes: number,
): Analysis | undefined {
  if (!areAllKnown || frameSeconds === null) return undefined;
  const delaySeconds = video === null || audio === null ? 0 : Math.abs(video - audio);
  return { bytes: Math.max(1_000_000, readBytes + 256 * 1024), seconds: 1 + delaySeconds + 3 * frameSeconds };
}

function isNotFound(error: unknown): boolean {
  return error instanceof TransferFault && error.failure.code === 'video_not_found';
}

/** @param first copied, because joiners modify their input */
async function* chain(first: Buffer | null, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  if (first !== null) yield* inChunks(Buffer.from(first));
  yield* rest;
}

/** Each part costs one write, so many small boxes and tags are merged. */
function mergeSmallParts(parts: readonly Buffer[]): readonly Buffer[] {
  return parts.length <= 4 ? parts : [Buffer.concat(parts)];
}
