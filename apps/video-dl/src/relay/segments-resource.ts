import { inChunks } from '@media-services/egress-guard';
import { faultFrom, protocolFault, TransferFault } from '../upstream/transfer-fault.js';
import { joinerFor, sniffedBytes } from '../formats/joiner-for.js';
import type { FirstTimes, Joiner, TrackChanges, TrackLengths } from '../formats/joiner.js';
import { LeadingImage } from '../formats/mpeg-ts/leading-image.js';
import { notJoinable, Rejection } from '../formats/rejection.js';
import { type RelayContext, type Resource, type ResourceRequest, writeAll } from './resource.js';
import type { Segment, SegmentIndex, SegmentList } from './segment-list.js';
import { SegmentReader, type SegmentBytes } from './segment-reader.js';

/** The part of a source to read, in seconds. */
export interface TimeSpan {
  readonly startSeconds: number;
  /** Null means to the end. */
  readonly endSeconds: number | null;
}

/** How far ffmpeg looks for tracks before its first output. */
export interface Analysis {
  readonly bytes: number;
  readonly seconds: number;
}

/** Players and packagers round times to this. */
const roundingSeconds = 0.001;
/** How far audio may lag behind the video of the same segment. */
const audioLagSeconds = 0.1;
/** Enough for a keyframe and everything up to the first audio. */
const maxClipBeginningBytes = 2 * 1024 ** 2;
const maxBeginningBytes = 64 * 1024;
/** The tracks of a transport stream begin at different places. */
const maxTransportBytes = 1024 ** 2;
/** How far before a clip to look for a segment that begins with a key frame. */
const maxStepsBack = 5;

/** Segments, all or some of them, served as one byte stream. */
export class SegmentsResource implements Resource {
  readonly #context: RelayContext;
  readonly #index: SegmentIndex;
  /** Null means all of it. */
  readonly #span: TimeSpan | null;
  readonly #readsAudioOnly: boolean;
  #window: SegmentWindow | null = null;
  /** Opened before the reader connects; null afterwards. */
  #prepared: JoinedSegments | null = null;
  #current: JoinedSegments | null = null;
  #isDelivered = false;

  /** @param readsAudioOnly the video doesn't matter, and a clip needs audio from slightly before its start */
  constructor(
    index: SegmentIndex,
    context: RelayContext,
    { span = null, readsAudioOnly = false }: { span?: TimeSpan | null; readsAudioOnly?: boolean } = {},
  ) {
    this.#index = index;
    this.#context = context;
    this.#span = span;
    this.#readsAudioOnly = readsAudioOnly;
  }

  /** The first presentation time on the source's clock, in seconds; null if it has none. */
  get startSeconds(): number | null {
    const first = this.#window === null ? null : firstTime(this.#current?.firstTimes);
    return first ?? this.#current?.startSeconds ?? null;
  }

  /** Start of the window in the source, in seconds; null if everything is read. */
  get offsetSeconds(): number | null {
    return this.#window?.startSeconds ?? null;
  }

  /** Seconds of audio at the beginning to leave out. */
  get hiddenSeconds(): number {
    return this.#current?.hiddenSeconds ?? 0;
  }

  /** Whether it is a transport stream whose video begins with a key frame. */
  get hasTransportKeyFrame(): boolean {
    return this.#current?.firstFrame === 'key';
  }

  /** Where the video of the window begins in the source, in seconds; null if nothing can be decoded from there on. */
  get keyFrameSeconds(): number | null {
    return this.#current?.firstFrame === 'other' ? null : (this.#window?.videoSeconds ?? null);
  }

  /** How far ffmpeg has to look for tracks; undefined for as far as usual. */
  get analysis(): Analysis | undefined {
    return this.#current?.analysis;
  }

  /** Total duration stated by the list, in seconds; null if it states none. */
  get statedSeconds(): number | null {
    return this.#current?.statedSeconds ?? null;
  }

  /** Lengths of the delivered media; null until everything is delivered, or if they aren't measured. */
  get lengths(): TrackLengths | null {
    return this.#isDelivered ? (this.#current?.lengths ?? null) : null;
  }

  get changes(): TrackChanges {
    return this.#current?.changes ?? {};
  }

  /**
   * Reads the first bytes of the media, which contain their start time.
   * @throws TransferFault, `signal.reason`
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const joined = this.#span === null ? this.#joined(signal) : await this.#locate(this.#span, signal);
    this.#current = joined;
    await joined.begin(maxBeginningBytes);
    this.#prepared = joined;
    // No reader may ever connect.
    signal.addEventListener('abort', () => joined.discard(), { once: true });
  }

  /** Finds the segments of a span, first by their stated durations, then by the timestamps in the media. */
  async #locate({ startSeconds, endSeconds }: TimeSpan, signal: AbortSignal): Promise<JoinedSegments> {
    const list = await this.#index.list(signal);
    const start = this.#readsAudioOnly ? Math.max(0, startSeconds - audioLagSeconds) : startSeconds;
    const endAt = (driftSeconds: number) =>
      endSeconds === null ? list.length : list.segmentAt(endSeconds + audioLagSeconds - driftSeconds) + 1;
    let first = list.segmentAt(start + roundingSeconds);
    let zero: number | null = null;
    let stepsBack = 0;
    if (first > 0) {
      const beginning = this.#joined(signal, { first: 0, end: 1 });
      await beginning.begin(maxClipBeginningBytes);
      zero = zeroOf(beginning.firstTimes);
      beginning.discard();
      if (beginning.isOneStream) {
        this.#window = { first: 0, end: Infinity, startSeconds: 0, videoSeconds: 0 };
        return this.#joined(signal);
      }
    }
    for (;;) {
      const joined = this.#joined(signal, { first, end: Math.max(first + 1, endAt(0)) });
      await joined.begin(maxClipBeginningBytes);
      const segmentZero = zeroOf(joined.firstTimes);
      zero ??= segmentZero;
      const stated = list.startOf(first);
      // The other track may start before the one that defines second 0.
      const lead = segmentZero === null ? 0 : segmentZero - (firstTime(joined.firstTimes) ?? segmentZero);
      const offset = segmentOffset(
        segmentZero === null || zero === null ? null : segmentZero - zero,
        stated,
        list.isContinuousTo(first),
      );
      const isBefore = first === 0 || offset <= start + roundingSeconds;
      const needsKeyFrame = first > 0 && !this.#readsAudioOnly && joined.firstFrame === 'other';
      if (isBefore && needsKeyFrame) stepsBack += 1;
      if (isBefore && !(needsKeyFrame && stepsBack <= maxStepsBack)) {
        const end = Math.max(first + 1, endAt(stated === null ? 0 : offset - stated));
        this.#window = { first, end, startSeconds: offset - lead, videoSeconds: offset };
        if (!joined.hasEnded) joined.setEnd(end);
        return joined.hasEnded ? this.#joined(signal, this.#window) : joined;
      }
      joined.discard();
      first -= 1;
    }
  }

  #joined(
    signal: AbortSignal,
    { first, end }: Pick<SegmentWindow, 'first' | 'end'> = { first: 0, end: Infinity },
  ) {
    const readsAudioOnly = this.#readsAudioOnly;
    return new JoinedSegments(this.#index, this.#context, signal, { first, end, readsAudioOnly });
  }

  async serve({ method, range, response, signal }: ResourceRequest): Promise<void> {
    if (range !== undefined && !/^bytes=0-$/.test(range)) {
      response.writeHead(416, { 'content-length': 0 }).end();
      return;
    }
    if (method === 'HEAD') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end();
      return;
    }
    const joined = this.#prepared ?? this.#joined(signal, this.#window ?? undefined);
    this.#prepared = null;
    this.#current = joined;
    await joined.begin(maxBeginningBytes);
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    await writeAll(response, joined.chunks(), signal);
    this.#isDelivered = true;
  }

  isComplete(): boolean {
    return this.#isDelivered;
  }
}

/** A range of segments. */
interface SegmentWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** Time of its first sample in the source, in seconds. */
  readonly startSeconds: number;
  /** Of its first frame of video, if it has any. */
  readonly videoSeconds: number;
}

/** Second 0 is the first video frame. Audio may start a little earlier because of an encoder's delay. */
function zeroOf({ video, audio }: FirstTimes): number | null {
  return video ?? audio;
}

function firstTime(times: FirstTimes | undefined): number | null {
  const known = [times?.video, times?.audio].flatMap((time) => time ?? []);
  return known.length === 0 ? null : Math.min(...known);
}

/** Start of a segment: as measured, unless its clock differs from that of the first segment. */
function segmentOffset(measured: number | null, stated: number | null, isContinuous: boolean): number {
  if (measured === null || stated === null) return measured ?? stated ?? 0;
  return isContinuous && Math.abs(measured - stated) <= 2 + stated * 0.02 ? measured : stated;
}

/** One pass over the segments. */
class JoinedSegments {
  readonly #reader: SegmentReader;
  readonly #parse: RelayContext['parse'];
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncGenerator<Buffer, void, void>;
  #joiner: Joiner | null = null;
  #beginning: Buffer | null = null;
  readonly #first: number;
  readonly #readsAudioOnly: boolean;
  #end: number;
  hasEnded = false;
  analysis: Analysis | undefined;
  statedSeconds: number | null = null;

  constructor(
    index: SegmentIndex,
    context: RelayContext,
    signal: AbortSignal,
    { first, end, readsAudioOnly }: Pick<SegmentWindow, 'first' | 'end'> & { readsAudioOnly: boolean },
  ) {
    this.#first = first;
    this.#readsAudioOnly = readsAudioOnly;
    this.#end = end;
    this.#reader = new SegmentReader(index, context);
    this.#parse = context.parse;
    this.#signal = signal;
    this.#chunks = this.#read();
  }

  get startSeconds(): number | null {
    return this.#joiner?.startSeconds ?? null;
  }

  get hiddenSeconds(): number {
    return this.#joiner?.hiddenSeconds ?? 0;
  }

  get isOneStream(): boolean {
    return this.#joiner?.isOneStream === true;
  }

  get firstFrame(): Joiner['firstFrame'] {
    return this.#joiner?.firstFrame;
  }

  get firstTimes(): FirstTimes {
    return this.#joiner?.firstTimes ?? { video: null, audio: null, areAllKnown: false };
  }

  get lengths(): TrackLengths | null {
    return this.#joiner?.lengths ?? null;
  }

  get changes(): TrackChanges {
    return this.#joiner ?? {};
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
      this.firstFrame !== null &&
      (needsAllTracks() ? this.firstTimes.areAllKnown : this.startSeconds !== null);
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
    if (this.firstFrame === 'key') this.analysis = shortAnalysis(this.firstTimes, this.#beginning.length);
  }

  /** Whether it is a transport stream with video whose first frame can be looked at. */
  get #hasFrames(): boolean {
    return this.firstFrame !== undefined;
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

  /** Requests the next segment while the current one is read, to hide the round trip. */
  async *#read(): AsyncGenerator<Buffer, void, void> {
    let initialisation: number | null = null;
    let next: Promise<SegmentBytes> | null = null;
    try {
      const list = await this.#reader.list(this.#signal);
      if (list.length === 0) throw protocolFault('lists no segments');
      this.statedSeconds = list.totalSeconds;
      this.#end = Math.min(this.#end, list.length);
      await this.#assertJoinable(list);
      next = this.#open(list, this.#first);
      for (let number = this.#first; number < this.#end; number += 1) {
        const segment = list.segment(number);
        const bytes = await (next ?? this.#open(list, number)).catch((error: unknown) => {
          if (segment.mayBeAbsent && isNotFound(error)) return null;
          throw error;
        });
        next = number + 1 < this.#end ? this.#open(list, number + 1) : null;
        if (bytes === null) continue;
        const prefix =
          segment.initialisation === null || segment.initialisation === initialisation
            ? null
            : await this.#reader.initialisation(segment.initialisation, this.#signal);
        initialisation = segment.initialisation;
        yield* this.#join(segment, prefix, bytes, list.length === 1);
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
    for (let number = this.#first; number < this.#end; number += 1) {
      const { initialisation } = list.segment(number);
      if (initialisation !== null) numbers.add(initialisation);
    }
    if (numbers.size < 2) return;
    const readsAudioOnly = this.#readsAudioOnly;
    let first: string | null = null;
    for (const number of numbers) {
      const bytes = await this.#reader.initialisation(number, this.#signal);
      const digest = await this.#parse({ kind: 'initialisation', bytes, readsAudioOnly }, this.#signal);
      first ??= digest;
      if (digest !== null && digest !== first) throw notJoinable('changes its encoding in the middle');
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
      this.#joiner = joinerFor(head, isOnly && initialisation === null, this.#readsAudioOnly);
      this.#joiner.begin(segment);
      return this.#joiner.push(head);
    };
    for await (const chunk of chain(initialisation, bytes.chunks()))
      yield* mergeSmallParts(join(image.push(chunk), false));
    yield* mergeSmallParts(join(image.end(), true));
    yield* mergeSmallParts(this.#joiner?.end() ?? []);
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
 * come, so ffmpeg would read 5 s or 5 MB before its first output.
 */
function shortAnalysis({ video, audio, areAllKnown }: FirstTimes, readBytes: number): Analysis | undefined {
  if (!areAllKnown) return undefined;
  const delaySeconds = video === null || audio === null ? 0 : Math.abs(video - audio);
  return { bytes: Math.max(1_000_000, readBytes + 256 * 1024), seconds: 1 + delaySeconds };
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
