import type { SegmentFacts } from '../formats/joiner.js';
import { SingleFlight } from '../single-flight.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import { RemoteObject } from '../upstream/remote-object.js';
import { maxRows } from '../formats/schemas.js';
import {
  column,
  columns,
  resolveUrl,
  type ByteWindow,
  type SegmentTable,
} from '../manifests/segment-table.js';
import { protocolFault } from '../upstream/transfer-fault.js';

/** Key of an encrypted part: AES-128 in CBC mode with PKCS #7 padding. */
interface PartKey {
  /** URL of the 16-byte key, or the key itself. */
  readonly key: string | Buffer;
  readonly iv: Buffer;
}

/** A file, or a byte range of it. */
export interface MediaPart {
  readonly url: string;
  /** Null means the whole file. */
  readonly range: ByteWindow | null;
  /** Null if it isn't encrypted. */
  readonly key: PartKey | null;
}

/** One segment of an HLS or DASH stream. */
export interface Segment extends MediaPart, SegmentFacts {
  readonly range: ByteWindow | null;
  /** Index of the initialisation that must precede it; null if it needs none. */
  readonly initialisation: number | null;
  /** A server may not have it, and nothing is missing then. */
  readonly mayBeAbsent: boolean;
}

type ExtraQueries = Pick<MediaSource, 'segmentQuery' | 'keyQuery'>;

/** The columns that describe the media rather than their URLs. */
const mediaColumns = [
  ...[column.rangeStart, column.rangeEnd, column.initialisation, column.seconds],
  ...[column.sequence, column.isRounded, column.isDiscontinuity],
];

/** The segments of one track. A segment object is created only when needed. */
export class SegmentList {
  readonly #table: SegmentTable;
  readonly #urls: readonly string[];
  readonly #queries: ExtraQueries;

  /** @param queries that an extractor adds to every URL in a playlist */
  constructor(table: SegmentTable, queries: ExtraQueries) {
    this.#table = table;
    this.#urls = table.urls.split('\n', maxRows);
    this.#queries = queries;
  }

  get length(): number {
    return this.#table.rows.length / columns;
  }

  get initialisationCount(): number {
    return this.#table.initialisations.length;
  }

  /** Total duration; null if a segment's duration isn't stated. */
  get totalSeconds(): number | null {
    return this.startOf(this.length);
  }

  /** Start of a segment in seconds, by the stated durations; null if one before it isn't stated. */
  startOf(number: number): number | null {
    let total = 0;
    for (let before = 0; before < number; before += 1) total += this.#cell(before, column.seconds);
    return Number.isNaN(total) ? null : total;
  }

  /** The segment at a time, by the stated durations. Past the end: the last. Without durations: the first. */
  segmentAt(seconds: number): number {
    if (this.totalSeconds === null) return 0;
    let end = 0;
    for (let number = 0; number < this.length; number += 1) {
      end += this.#cell(number, column.seconds);
      if (end > seconds) return number;
    }
    return this.length - 1;
  }

  /** The segments after the first, up to this one, that the playlist marks as discontinuous. */
  *discontinuities(last: number): Generator<number, void, undefined> {
    for (let number = 1; number <= last; number += 1)
      if (this.#cell(number, column.isDiscontinuity) === 1) yield number;
  }

  /** @throws TransferFault for a number outside the list */
  segment(number: number): Segment {
    if (number >= this.length) throw protocolFault('changed the list of segments');
    const cell = (name: keyof typeof column) => this.#cell(number, column[name]);
    const start = cell('rangeStart');
    const initialisation = cell('initialisation');
    const seconds = cell('seconds');
    return {
      url: this.#url(cell('url'), this.#queries.segmentQuery),
      range: start < 0 ? null : { start, end: cell('rangeEnd') },
      key: this.#key(cell('key'), cell('sequence')),
      initialisation: initialisation < 0 ? null : initialisation,
      seconds: Number.isNaN(seconds) ? null : seconds,
      isRounded: cell('isRounded') === 1,
      isDiscontinuity: cell('isDiscontinuity') === 1,
      mayBeAbsent: cell('mayBeAbsent') === 1,
    };
  }

  /** @throws TransferFault for a number outside the list */
  initialisation(number: number): MediaPart {
    const found = this.#table.initialisations[number];
    if (found === undefined) throw protocolFault('changed the list of segments');
    const { url, range, key } = found;
    return { url: this.#url(url, this.#queries.segmentQuery), range, key: this.#key(key ?? -1, 0) };
  }

  /** After a renewal the URLs may differ, but nothing else that describes the media. */
  isSameMediaAs(other: SegmentList): boolean {
    if (this.length !== other.length || this.#initialisationRanges() !== other.#initialisationRanges())
      return false;
    for (let number = 0; number < this.length; number += 1) {
      const isSame = mediaColumns.every((each) =>
        Object.is(this.#cell(number, each), other.#cell(number, each)),
      );
      if (!isSame || this.#iv(number) !== other.#iv(number)) return false;
    }
    return true;
  }

  #initialisationRanges(): string {
    return JSON.stringify(this.#table.initialisations.map(({ range }) => range));
  }

  #cell(number: number, index: number): number {
    return this.#table.rows[number * columns + index] ?? NaN;
  }

  #url(number: number, query: string | undefined): string {
    // A parser process that was taken over may have sent any text.
    const stated = this.#urls[number] ?? '';
    const url = resolveUrl(stated, stated);
    if (query === undefined) return url;
    const extended = new URL(url);
    for (const [name, value] of new URLSearchParams(query)) extended.searchParams.set(name, value);
    return extended.href;
  }

  #key(number: number, sequence: number): PartKey | null {
    const key = this.#table.keys[number];
    if (key === undefined) return null;
    const { segmentQuery, keyQuery = segmentQuery } = this.#queries;
    return {
      key: key.url === null ? Buffer.from(key.bytes ?? []) : this.#url(key.url, keyQuery),
      iv: key.iv === null ? sequenceIv(sequence) : Buffer.from(key.iv),
    };
  }

  /** Null for a segment without a key; empty when its number is the IV. */
  #iv(number: number): string | null {
    const key = this.#table.keys[this.#cell(number, column.key)];
    if (key === undefined) return null;
    return key.iv === null ? '' : Buffer.from(key.iv).toString('hex');
  }
}

/** RFC 8216, 5.2. */
function sequenceIv(sequence: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeBigUInt64BE(BigInt(sequence), 8);
  return iv;
}

/** A list of segments that is read again after its source was renewed. */
export class SegmentIndex {
  readonly #source: RenewableSource;
  readonly #read: (signal: AbortSignal) => Promise<SegmentTable>;
  readonly #loading = new SingleFlight<SegmentList>();
  #list: SegmentList | null;
  /** The source that the list in use was read from. */
  #used: MediaSource;

  /**
   * @param read reads the segments from the current source
   * @param initial the segments, if they were read already
   */
  constructor(
    source: RenewableSource,
    read: (signal: AbortSignal) => Promise<SegmentTable>,
    initial: SegmentTable | null = null,
  ) {
    this.#source = source;
    this.#read = read;
    this.#list = initial && new SegmentList(initial, source.current);
    this.#used = source.current;
  }

  /** @throws TransferFault, including when a renewed list describes different media; `signal.reason` */
  async list(signal: AbortSignal): Promise<SegmentList> {
    if (this.#list !== null && this.#used === this.#source.current) return this.#list;
    return this.#loading.run('', signal, (shared) => this.#load(shared));
  }

  /** Anything whose URL is in the list. */
  object(urlIn: (list: SegmentList) => string): RemoteObject {
    return new RemoteObject(this.#source, {
      urlOf: async (_source, signal) => urlIn(await this.list(signal)),
    });
  }

  async #load(signal: AbortSignal): Promise<SegmentList> {
    const list = new SegmentList(await this.#read(signal), this.#source.current);
    if (this.#list !== null && !this.#list.isSameMediaAs(list))
      throw protocolFault('changed the list of segments');
    // Reading the list may itself have renewed the source.
    this.#used = this.#source.current;
    this.#list = list;
    return list;
  }
}
