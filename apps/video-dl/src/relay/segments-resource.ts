import { inChunks } from '@media-services/egress-guard';
import { brokenRules } from '../upstream/transfer-fault.js';
import { joinerFor, sniffedBytes } from './join/sniff.js';
import { notJoinable, type FirstTimes, type Joiner, type TrackLengths } from './join/joiner.js';
import { writeAll } from './respond.js';
import type { RelayContext, Resource, ResourceRequest } from './resource.js';
import type { Segment, SegmentIndex, SegmentList } from './segment-list.js';
import { SegmentReader, type SegmentBytes } from './segment-reader.js';

/** What is read of a source, in seconds of the whole. */
export interface TimeSpan {
  readonly startSeconds: number;
  /** Null: to the end. */
  readonly endSeconds: number | null;
}

/** Players and packagers round times to this. */
const roundingSeconds = 0.001;
/** How far audio may lie behind the video of the same segment. */
const audioLagSeconds = 0.1;
/** Keyframes and what lies between them and the first audio. */
const maxClipBeginningBytes = 2 * 1024 ** 2;
const maxBeginningBytes = 64 * 1024;

/** Media in segments, all or some of them, served as the one byte stream that they make. */
export class SegmentsResource implements Resource {
  readonly #context: RelayContext;
  readonly #index: SegmentIndex;
  /** Null: all of it. */
  readonly #span: TimeSpan | null;
  readonly #readsAudioOnly: boolean;
  #window: SegmentWindow | null = null;
  /** Reads ahead of the reader, until that comes. */
  #prepared: JoinedSegments | null = null;
  #current: JoinedSegments | null = null;
  #isDelivered = false;

  /** @param readsAudioOnly where a clip begins, audio from the segment before is needed, but no video */
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

  /** The first presentation time by the source's clock, in seconds; null where it has none. */
  get startSeconds(): number | null {
    const first = this.#window === null ? null : firstTime(this.#current?.firstTimes);
    return first ?? this.#current?.startSeconds ?? null;
  }

  /** Where in the whole it begins, in seconds; null where all of it is read. */
  get offsetSeconds(): number | null {
    return this.#window?.startSeconds ?? null;
  }

  /** Audio at the beginning that is to be left out. */
  get hiddenSeconds(): number {
    return this.#current?.hiddenSeconds ?? 0;
  }

  /** As the list states it, in seconds; null where it does not. */
  get statedSeconds(): number | null {
    return this.#current?.statedSeconds ?? null;
  }

  /** Of the media that was delivered; null as long as it is not all, or where it was not counted. */
  get lengths(): TrackLengths | null {
    return this.#isDelivered ? (this.#current?.lengths ?? null) : null;
  }

  /**
   * Reads the first bytes of the media, which tell where they begin in time.
   * @throws TransferFault, `signal.reason`
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const joined = this.#span === null ? this.#joined(signal) : await this.#locate(this.#span, signal);
    this.#current = joined;
    await joined.begin(maxBeginningBytes);
    this.#prepared = joined;
    // Nobody may ever come for it.
    signal.addEventListener('abort', () => joined.discard(), { once: true });
  }

  /** Finds the segments of a span: by their stated durations first, then by the times in the media. */
  async #locate({ startSeconds, endSeconds }: TimeSpan, signal: AbortSignal): Promise<JoinedSegments> {
    const list = await this.#index.list(signal);
    const start = this.#readsAudioOnly ? Math.max(0, startSeconds - audioLagSeconds) : startSeconds;
    const endAt = (driftSeconds: number) =>
      endSeconds === null ? list.length : list.segmentAt(endSeconds + audioLagSeconds - driftSeconds) + 1;
    let first = list.segmentAt(start + roundingSeconds);
    let zero: number | null = null;
    if (first > 0) {
      const beginning = this.#joined(signal, { first: 0, end: 1 });
      await beginning.begin(maxClipBeginningBytes);
      zero = zeroOf(beginning.firstTimes);
      beginning.discard();
      if (beginning.isOneStream) {
        this.#window = { first: 0, end: Infinity, startSeconds: 0 };
        return this.#joined(signal);
      }
    }
    for (;;) {
      const joined = this.#joined(signal, { first, end: Math.max(first + 1, endAt(0)) });
      await joined.begin(maxClipBeginningBytes);
      const own = zeroOf(joined.firstTimes);
      zero ??= own;
      const stated = list.startOf(first);
      // The other track may begin before the one that the time is counted by.
      const lead = own === null ? 0 : own - (firstTime(joined.firstTimes) ?? own);
      const offset = placeOf(
        own === null || zero === null ? null : own - zero,
        stated,
        list.isContinuous(0, first),
      );
      if (first === 0 || offset <= start + roundingSeconds) {
        const end = Math.max(first + 1, endAt(stated === null ? 0 : offset - stated));
        this.#window = { first, end, startSeconds: offset - lead };
        if (!joined.hasEnded) joined.endsAt(end);
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
    return new JoinedSegments(this.#index, this.#context, signal, { first, end });
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

/** Some of the segments of a list. */
interface SegmentWindow {
  readonly first: number;
  /** The number after the last. */
  readonly end: number;
  /** Where its first sample lies in the whole, in seconds. */
  readonly startSeconds: number;
}

/** Second 0 is the first frame: audio may begin a little earlier, with an encoder's delay. */
function zeroOf({ video, audio }: FirstTimes): number | null {
  return video ?? audio;
}

function firstTime(times: FirstTimes | undefined): number | null {
  const known = [times?.video, times?.audio].flatMap((time) => time ?? []);
  return known.length === 0 ? null : Math.min(...known);
}

/** Where a segment begins: by its times, unless its clock is another than that of the first segment. */
function placeOf(measured: number | null, stated: number | null, isContinuous: boolean): number {
  if (measured === null || stated === null) return measured ?? stated ?? 0;
  return isContinuous && Math.abs(measured - stated) <= 2 + stated * 0.02 ? measured : stated;
}

/** One reading of the segments. */
class JoinedSegments {
  readonly #reader: SegmentReader;
  readonly #parse: RelayContext['parse'];
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncGenerator<Buffer, void, void>;
  #joiner: Joiner | null = null;
  #beginning: Buffer | null = null;
  readonly #first: number;
  #end: number;
  hasEnded = false;
  statedSeconds: number | null = null;

  constructor(
    index: SegmentIndex,
    context: RelayContext,
    signal: AbortSignal,
    { first, end }: Pick<SegmentWindow, 'first' | 'end'>,
  ) {
    this.#first = first;
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

  get firstTimes(): FirstTimes {
    return this.#joiner?.firstTimes ?? { video: null, audio: null, areAllKnown: false };
  }

  get lengths(): TrackLengths | null {
    return this.#joiner?.lengths ?? null;
  }

  /** Changes the number after the last segment, which has not been reached. */
  endsAt(end: number): void {
    this.#end = end;
  }

  /** Reads up to the first media; with more bytes allowed, up to the first of each track. */
  async begin(maxBytes: number): Promise<void> {
    if (this.#beginning !== null) return;
    const isLooking = maxBytes > maxBeginningBytes;
    const isKnown = () => (isLooking ? this.firstTimes.areAllKnown : this.startSeconds !== null);
    const parts: Buffer[] = [];
    let bytes = 0;
    while (!isKnown() && bytes < maxBytes) {
      const next = await this.#chunks.next();
      if (next.done) {
        this.hasEnded = true;
        break;
      }
      parts.push(next.value);
      bytes += next.value.length;
    }
    this.#beginning = Buffer.concat(parts);
  }

  /** Ends a reading that nobody wants. */
  discard(): void {
    // What it still throws has no reader.
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

  /** The next segment is asked for while the present one is read: its round trip costs nothing. */
  async *#read(): AsyncGenerator<Buffer, void, void> {
    const list = await this.#reader.list(this.#signal);
    if (list.length === 0) throw brokenRules('names no segments');
    this.statedSeconds = list.totalSeconds;
    this.#end = Math.min(this.#end, list.length);
    await this.#assertJoinable(list);
    let initialisation: number | null = null;
    let next: Promise<SegmentBytes> | null = this.#open(list, this.#first);
    try {
      for (let number = this.#first; number < this.#end; number += 1) {
        const segment = list.segment(number);
        const bytes = await (next ?? this.#open(list, number));
        next = number + 1 < this.#end ? this.#open(list, number + 1) : null;
        const prefix =
          segment.initialisation === null || segment.initialisation === initialisation
            ? null
            : await this.#reader.initialisation(segment.initialisation, this.#signal);
        initialisation = segment.initialisation;
        yield* this.#join(segment, prefix, bytes, list.length === 1);
      }
      this.#joiner?.finish();
    } finally {
      next?.then((unread) => unread.discard()).catch(() => undefined);
    }
  }

  /**
   * Compares the initialisations before the first byte, so that media that can't be joined
   * fail with an error instead of a broken stream.
   */
  async #assertJoinable(list: SegmentList): Promise<void> {
    if (list.initialisations < 2) return;
    const numbers = new Set<number>();
    for (let number = this.#first; number < this.#end; number += 1) {
      const { initialisation } = list.segment(number);
      if (initialisation !== null) numbers.add(initialisation);
    }
    if (numbers.size < 2) return;
    let first: string | null = null;
    for (const number of numbers) {
      const bytes = await this.#reader.initialisation(number, this.#signal);
      const digest = await this.#parse({ kind: 'initialisation', bytes }, this.#signal);
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
    let head: Buffer | null = Buffer.alloc(0);
    this.#joiner?.begin(segment);
    for await (const chunk of chain(initialisation, bytes.chunks())) {
      if (this.#joiner === null) {
        head = head === null ? chunk : Buffer.concat([head, chunk]);
        if (head.length < sniffedBytes) continue;
        this.#joiner = joinerFor(head, isOnly && initialisation === null);
        this.#joiner.begin(segment);
        yield* fewer(this.#joiner.push(head));
        head = null;
      } else yield* fewer(this.#joiner.push(chunk));
    }
    this.#joiner ??= joinerFor(head ?? Buffer.alloc(0), isOnly);
    yield* fewer(this.#joiner.end());
  }

  #open(list: SegmentList, number: number): Promise<SegmentBytes> {
    const opening = this.#reader.open(number, list.segment(number), this.#signal);
    // Its failure counts when its turn comes.
    opening.catch(() => undefined);
    return opening;
  }
}

/** @param first kept by its owner, and joiners change what they are given */
async function* chain(first: Buffer | null, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  if (first !== null) yield* inChunks(Buffer.from(first));
  yield* rest;
}

/** Each part is written on its own: small boxes and tags would cost a write each. */
function fewer(parts: readonly Buffer[]): readonly Buffer[] {
  return parts.length <= 4 ? parts : [Buffer.concat(parts)];
}
