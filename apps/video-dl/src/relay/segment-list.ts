import { SingleFlight } from '../single-flight.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import type { RenewableUrl } from '../upstream/remote-object.js';
import { column, columns, resolveUrl, type ByteWindow, type SegmentTable } from '../parsing/segment-table.js';
import { brokenRules } from '../upstream/transfer-fault.js';

/** All or some of the bytes at a URL. */
interface MediaPart {
  readonly url: string;
  /** Null is all. */
  readonly range: ByteWindow | null;
}

/** How a part is encrypted: AES-128 in CBC mode, PKCS #7 padding. */
export interface PartKey {
  /** Where the 16 bytes of the key are, or they themselves. */
  readonly key: string | Buffer;
  readonly iv: Buffer;
}

export interface EncryptedPart extends MediaPart {
  readonly key: PartKey | null;
}

/** One piece of media that comes in pieces. */
export interface Segment extends EncryptedPart {
  /** Number of what has to be read before it, once; null for media that need nothing. */
  readonly initialisation: number | null;
  /** As the playlist states it; null where it does not. */
  readonly seconds: number | null;
  /** The playlist states whole seconds, to which packagers round. */
  readonly isRounded: boolean;
  readonly isDiscontinuity: boolean;
}

/** What an extractor adds to every URL that a playlist names, as query strings. */
export interface ExtraQueries {
  readonly segments: string | null;
  readonly keys: string | null;
}

/** The columns that describe the media, not where they lie. */
const describing = [
  ...[column.rangeStart, column.rangeEnd, column.initialisation, column.seconds],
  ...[column.sequence, column.isRounded, column.isDiscontinuity],
];

/** The segments of one track: flat buffers, of which a segment is made when its turn comes. */
export class SegmentList {
  readonly #table: SegmentTable;
  readonly #text: Buffer;
  readonly #ends: Uint32Array;
  readonly #rows: Float64Array;
  readonly #queries: ExtraQueries;

  constructor(table: SegmentTable, queries: ExtraQueries) {
    this.#table = table;
    this.#text = Buffer.from(table.text.buffer, table.text.byteOffset, table.text.length);
    // Copies, because what arrives from another process may lie at any place in a buffer.
    this.#ends = new Uint32Array(Uint8Array.from(table.ends).buffer);
    this.#rows = new Float64Array(Uint8Array.from(table.rows).buffer);
    this.#queries = queries;
  }

  get length(): number {
    return this.#rows.length / columns;
  }

  /** How many initialisations the segments have. */
  get initialisations(): number {
    return this.#table.initialisations.length;
  }

  /** Of all segments; null where that of one isn't stated. */
  get totalSeconds(): number | null {
    return this.startOf(this.length);
  }

  /** Where a segment begins, in seconds, by what is stated of those before; null where that of one isn't stated. */
  startOf(number: number): number | null {
    let total = 0;
    for (let before = 0; before < number; before += 1) total += this.#cell(before, column.seconds);
    return Number.isNaN(total) ? null : total;
  }

  /** The segment that holds a moment, by what is stated of them; the last for one after the end, the first where nothing is stated. */
  segmentAt(seconds: number): number {
    if (this.totalSeconds === null) return 0;
    let end = 0;
    for (let number = 0; number < this.length; number += 1) {
      end += this.#cell(number, column.seconds);
      if (end > seconds) return number;
    }
    return this.length - 1;
  }

  /** Whether the clock of the media may change between two segments. */
  isContinuous(first: number, last: number): boolean {
    for (let number = first + 1; number <= last; number += 1)
      if (this.#cell(number, column.isDiscontinuity) === 1) return false;
    return true;
  }

  /** @throws TransferFault for a number that the list doesn't have */
  segment(number: number): Segment {
    if (number >= this.length) throw brokenRules('changed the list of segments');
    const cell = (name: keyof typeof column) => this.#cell(number, column[name]);
    const start = cell('rangeStart');
    const seconds = cell('seconds');
    return {
      url: this.#url(cell('base'), cell('reference'), this.#queries.segments),
      range: start < 0 ? null : { start, end: cell('rangeEnd') },
      key: this.#key(cell('base'), cell('key'), cell('sequence')),
      initialisation: orNull(cell('initialisation')),
      seconds: Number.isNaN(seconds) ? null : seconds,
      isRounded: cell('isRounded') === 1,
      isDiscontinuity: cell('isDiscontinuity') === 1,
    };
  }

  /** @throws TransferFault for a number that the list doesn't have */
  initialisation(number: number): EncryptedPart {
    const found = this.#table.initialisations[number];
    if (found === undefined) throw brokenRules('changed the list of segments');
    const { base, reference, range, key } = found;
    return {
      url: this.#url(base, reference, this.#queries.segments),
      range,
      key: this.#key(base, key ?? -1, 0),
    };
  }

  /** URLs may differ after a renewal; everything else that describes the media may not. */
  isSameMediaAs(other: SegmentList): boolean {
    if (this.length !== other.length || this.#initialisationRanges() !== other.#initialisationRanges())
      return false;
    for (let number = 0; number < this.length; number += 1) {
      const isSame = describing.every((each) =>
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
    return this.#rows[number * columns + index] ?? NaN;
  }

  #url(base: number, reference: number, query: string | null): string {
    const start = reference === 0 ? 0 : (this.#ends[reference - 1] ?? 0);
    const text = this.#text.toString('utf8', start, this.#ends[reference]);
    const url = resolveUrl(text, this.#table.baseUrls[base] ?? '');
    if (query === null) return url;
    const extended = new URL(url);
    for (const [name, value] of new URLSearchParams(query)) extended.searchParams.set(name, value);
    return extended.href;
  }

  #key(base: number, number: number, sequence: number): PartKey | null {
    const key = this.#table.keys[number];
    if (key === undefined) return null;
    const { segments, keys } = this.#queries;
    return {
      key:
        key.reference === null
          ? Buffer.from(key.bytes ?? [])
          : this.#url(base, key.reference, keys ?? segments),
      iv: key.iv === null ? sequenceIv(sequence) : Buffer.from(key.iv),
    };
  }

  /** Null for a segment without a key, or whose number is its IV. */
  #iv(number: number): string | null {
    const key = this.#table.keys[this.#cell(number, column.key)];
    if (key === undefined) return null;
    return key.iv === null ? '' : Buffer.from(key.iv).toString('hex');
  }
}

function orNull(index: number): number | null {
  return index < 0 ? null : index;
}

/** RFC 8216, 5.2. */
function sequenceIv(sequence: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeBigUInt64BE(BigInt(sequence), 8);
  return iv;
}

/** A list of segments that is read again when its source was renewed. */
export class SegmentIndex {
  readonly #source: RenewableSource;
  readonly #read: (signal: AbortSignal) => Promise<SegmentList>;
  readonly #loading = new SingleFlight<SegmentList>();
  #list: SegmentList | null;
  #generation: number;

  /**
   * @param read gets the list from the source as it is now
   * @param initial what has been read already
   */
  constructor(
    source: RenewableSource,
    read: (signal: AbortSignal) => Promise<SegmentList>,
    initial: SegmentList | null = null,
  ) {
    this.#source = source;
    this.#read = read;
    this.#list = initial;
    this.#generation = initial === null ? -1 : source.generation;
  }

  /** @throws TransferFault also when a renewed list describes other media; `signal.reason` */
  async list(signal: AbortSignal): Promise<SegmentList> {
    if (this.#list !== null && this.#generation === this.#source.generation) return this.#list;
    return this.#loading.run('', signal, (shared) => this.#load(shared));
  }

  /** Where something that the list names is, through every renewal. */
  renewableUrl(urlOf: (list: SegmentList) => string): RenewableUrl {
    let seen = this.#source.generation;
    return {
      locate: async (signal) => {
        const list = await this.list(signal);
        seen = this.#generation;
        return this.#source.locator(urlOf(list));
      },
      renew: (signal) => this.#source.renew(seen, signal),
    };
  }

  async #load(signal: AbortSignal): Promise<SegmentList> {
    const list = await this.#read(signal);
    if (this.#list !== null && !this.#list.isSameMediaAs(list))
      throw brokenRules('changed the list of segments');
    // The source may have been renewed on the way to the list.
    this.#generation = this.#source.generation;
    this.#list = list;
    return list;
  }
}
