import { inChunks } from '@media-services/egress-guard';
import { brokenRules } from '../upstream/transfer-fault.js';
import { joinerFor, sniffedBytes } from './join/sniff.js';
import { notJoinable, type Joiner, type TrackLengths } from './join/joiner.js';
import { writeAll } from './respond.js';
import type { RelayContext, Resource, ResourceRequest } from './resource.js';
import type { Segment, SegmentIndex, SegmentList } from './segment-list.js';
import { SegmentReader, type SegmentBytes } from './segment-reader.js';

/** A medium in pieces, served as the one byte stream that they make. */
export class SegmentsResource implements Resource {
  readonly #context: RelayContext;
  readonly #index: SegmentIndex;
  /** Reads ahead of the reader, until that comes. */
  #prepared: JoinedSegments | null = null;
  #current: JoinedSegments | null = null;
  #isDelivered = false;

  constructor(index: SegmentIndex, context: RelayContext) {
    this.#index = index;
    this.#context = context;
  }

  /** The first presentation time by the source's clock, in seconds; null where it has none. */
  get startSeconds(): number | null {
    return this.#current?.startSeconds ?? null;
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
   * Reads the first bytes of the medium, which tell where it begins in time.
   * @throws TransferFault, `signal.reason`
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const joined = new JoinedSegments(this.#index, this.#context, signal);
    this.#current = joined;
    await joined.begin();
    this.#prepared = joined;
    // Nobody may ever come for it.
    signal.addEventListener('abort', () => joined.giveUp(), { once: true });
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
    const joined = this.#prepared ?? new JoinedSegments(this.#index, this.#context, signal);
    this.#prepared = null;
    this.#current = joined;
    await joined.begin();
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    await writeAll(response, joined.chunks(), signal);
    this.#isDelivered = true;
  }

  isComplete(): boolean {
    return this.#isDelivered;
  }
}

/** One reading of all segments. */
class JoinedSegments {
  readonly #reader: SegmentReader;
  readonly #parse: RelayContext['parse'];
  readonly #signal: AbortSignal;
  readonly #chunks: AsyncGenerator<Buffer, void, void>;
  #joiner: Joiner | null = null;
  #beginning: Buffer | null = null;
  statedSeconds: number | null = null;

  constructor(index: SegmentIndex, context: RelayContext, signal: AbortSignal) {
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

  get lengths(): TrackLengths | null {
    return this.#joiner?.lengths ?? null;
  }

  /** Reads up to the first media. */
  async begin(): Promise<void> {
    if (this.#beginning !== null) return;
    const parts: Buffer[] = [];
    while (this.startSeconds === null && parts.reduce((sum, { length }) => sum + length, 0) < 65_536) {
      const next = await this.#chunks.next();
      if (next.done) break;
      parts.push(next.value);
    }
    this.#beginning = Buffer.concat(parts);
  }

  /** Lets go of the server. */
  giveUp(): void {
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
    await this.#assertJoinable(list);
    let initialisation: number | null = null;
    let next: Promise<SegmentBytes> | null = this.#open(list, 0);
    try {
      for (let number = 0; number < list.length; number += 1) {
        const segment = list.segment(number);
        const bytes = await (next ?? this.#open(list, number));
        next = number + 1 < list.length ? this.#open(list, number + 1) : null;
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
    let first: string | null = null;
    for (let number = 0; number < list.initialisations; number += 1) {
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
