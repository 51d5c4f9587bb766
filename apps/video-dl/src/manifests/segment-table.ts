import { z } from 'zod';
import { invalid, notJoinable, overLimit, type Rejection } from '../formats/rejection.js';
import { bytesUpTo, count, maxRows } from '../formats/schemas.js';

/** Limit for references in manifests, base URLs and resolved URLs. */
export const maxUrlLength = 8192;
/** Total for all references of one track. */
const maxTextBytes = 32 * 1024 ** 2;
/** Distinct initialisations per track. */
const maxInitialisations = 256;

/** Columns of a segment's row. -1 means none, NaN means unknown seconds. */
export const column = {
  base: 0,
  reference: 1,
  rangeStart: 2,
  rangeEnd: 3,
  key: 4,
  initialisation: 5,
  seconds: 6,
  /** The sequence number, used as the IV if the key has none (RFC 8216, 5.2). */
  sequence: 7,
  isRounded: 8,
  isDiscontinuity: 9,
  mayBeAbsent: 10,
} as const;
export const columns = 11;

const keySchema = z.object({
  /** Reference to the key's URL; null if `bytes` contains the key. */
  reference: count.nullable(),
  bytes: bytesUpTo(64).nullable(),
  iv: bytesUpTo(16).nullable(),
});

/** Both ends are inclusive. */
const windowSchema = z.object({ start: count, end: count });
export type ByteWindow = Readonly<z.output<typeof windowSchema>>;

const initialisationSchema = z.object({
  base: count,
  reference: count,
  range: windowSchema.nullable(),
  key: count.nullable(),
});

export const urlSchema = z.string().max(maxUrlLength);

/**
 * Everything we keep of a playlist or manifest, in a few flat buffers. They are cheap to send
 * between processes and have no objects per segment. URLs are resolved when needed.
 */
export const tableSchema = z.object({
  baseUrls: z.array(urlSchema).max(10_000).readonly(),
  /** All references, concatenated, in UTF-8. */
  text: bytesUpTo(64 * 1024 ** 2),
  /** End of each reference in `text`, as unsigned 32-bit integers. */
  ends: bytesUpTo(4 * maxRows),
  /** One row per segment, as 64-bit floats. */
  rows: bytesUpTo(80 * maxRows),
  keys: z.array(keySchema).max(maxRows).readonly(),
  initialisations: z.array(initialisationSchema).max(1000).readonly(),
});
export type SegmentTable = Readonly<z.output<typeof tableSchema>>;

export interface TableSegment {
  readonly reference: string;
  readonly range: ByteWindow | null;
  readonly key: number | null;
  readonly initialisation: number | null;
  readonly seconds: number | null;
  readonly sequence: number;
  readonly isRounded: boolean;
  readonly isDiscontinuity: boolean;
  /** Listed only because a stated duration was rounded up, or is another track's. */
  readonly mayBeAbsent?: boolean;
}

/** Collects the segments of one track. Each reference is checked and stored once. */
export class SegmentTableWriter {
  readonly #maxSegments: number;
  readonly #baseUrls: string[] = [];
  /** References checked against the current base URL. */
  readonly #checked = new Set<string>();
  readonly #references = new Map<string, number>();
  readonly #ends: number[] = [];
  readonly #rows: number[] = [];
  readonly #keys: z.output<typeof keySchema>[] = [];
  readonly #initialisations: z.output<typeof initialisationSchema>[] = [];
  readonly #initialisationNumbers = new Map<string, number>();
  #textBytes = 0;

  constructor(maxSegments: number) {
    this.#maxSegments = maxSegments;
  }

  get length(): number {
    return this.#rows.length / columns;
  }

  /** @throws Rejection unless this many segments may be added */
  assertRoom(count: number): void {
    if (!(this.length + count <= this.#maxSegments)) throw overLimit(`${this.#maxSegments} segments`);
  }

  /** The base URL of all references added from now on. */
  setBaseUrl(url: string): void {
    if (this.#baseUrls.at(-1) === url) return;
    if (url.length > maxUrlLength) throw invalid('sent a base URL that is too long');
    this.#baseUrls.push(url);
    this.#checked.clear();
  }

  addKey(reference: string | null, bytes: Uint8Array | null, iv: Uint8Array | null): number {
    return this.#keys.push({ reference: reference === null ? null : this.#intern(reference), bytes, iv }) - 1;
  }

  addInitialisation(reference: string, range: ByteWindow | null, key: number | null): number {
    const base = this.#baseUrls.length - 1;
    const name = JSON.stringify([base, reference, range, key]);
    const known = this.#initialisationNumbers.get(name);
    if (known !== undefined) return known;
    if (this.#initialisations.length >= maxInitialisations) throw invalid('changed the encoding too often');
    const number = this.#initialisations.push({ base, reference: this.#intern(reference), range, key }) - 1;
    this.#initialisationNumbers.set(name, number);
    return number;
  }

  add(segment: TableSegment): void {
    this.assertRoom(1);
    const { range, seconds } = segment;
    this.#rows.push(
      this.#baseUrls.length - 1,
      this.#intern(segment.reference),
      range?.start ?? -1,
      range?.end ?? -1,
      segment.key ?? -1,
      segment.initialisation ?? -1,
      seconds ?? NaN,
      segment.sequence,
      Number(segment.isRounded),
      Number(segment.isDiscontinuity),
      Number(segment.mayBeAbsent ?? false),
    );
  }

  /** Whether this is the last segment so far, at the current base URL. */
  endsWith(reference: string): boolean {
    const [base, last] = this.#rows.slice(-columns);
    return base === this.#baseUrls.length - 1 && last === this.#references.get(reference);
  }

  /** The last segment plays on in the next period. */
  extendLast(seconds: number | null): void {
    const at = this.#rows.length - columns + column.seconds;
    this.#rows[at] = (this.#rows[at] ?? NaN) + (seconds ?? NaN);
  }

  finish(): SegmentTable {
    return {
      baseUrls: this.#baseUrls,
      text: Buffer.from([...this.#references.keys()].join('')),
      ends: bytesOf(Uint32Array.from(this.#ends)),
      rows: bytesOf(Float64Array.from(this.#rows)),
      keys: this.#keys,
      initialisations: this.#initialisations,
    };
  }

  #intern(reference: string): number {
    if (!this.#checked.has(reference)) {
      resolveUrl(reference, this.#baseUrls.at(-1) ?? '');
      this.#checked.add(reference);
    }
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    this.#textBytes += Buffer.byteLength(reference);
    if (this.#textBytes > maxTextBytes) throw overLimit(`${maxTextBytes} bytes of URLs`);
    this.#references.set(reference, this.#ends.push(this.#textBytes) - 1);
    return this.#references.size - 1;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Float64Array): Uint8Array {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Of an HLS playlist (RFC 8216bis, 4.3), perhaps percent-encoded. */
const variable = /(?:\{|%7b)\$[\w-]+(?:\}|%7d)/i;

/** We don't expand variables, because no site is known to use them. */
export function usesVariables(): Rejection {
  return notJoinable('uses variables in its playlist');
}

/**
 * Resolves a URL from a playlist or manifest and removes any user name and password.
 * @throws Rejection unless it is an http or https URL without variables, within the length limit
 */
export function resolveUrl(reference: string, baseUrl: string): string {
  const isPlain =
    reference.length <= maxUrlLength && baseUrl.length <= maxUrlLength && !/\p{Cc}/u.test(reference);
  if (isPlain && variable.test(reference)) throw usesVariables();
  const url = isPlain && URL.canParse(reference, baseUrl) ? new URL(reference, baseUrl) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid("sent a URL that isn't http or https");
  url.username = '';
  url.password = '';
  if (url.href.length > maxUrlLength) throw invalid('sent a URL that is too long');
  return url.href;
}
