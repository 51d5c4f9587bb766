import { z } from 'zod';
import type { SegmentFacts } from '../formats/joiner.js';
import { invalid, notJoinable, overLimit, type Rejection } from '../formats/rejection.js';
import { bytesUpTo, count, maxRows, numbersUpTo } from '../formats/schemas.js';

/** Limit for references in manifests, base URLs and resolved URLs. */
export const maxUrlLength = 8192;
/** Total for all URLs of one track. */
const maxUrlCharacters = 32 * 1024 ** 2;
/** Distinct initialisations per track. */
const maxInitialisations = 256;

/** Columns of a segment's row. -1 means none, NaN means unknown seconds. */
export const column = {
  url: 0,
  rangeStart: 1,
  rangeEnd: 2,
  key: 3,
  initialisation: 4,
  seconds: 5,
  /** The sequence number, used as the IV if the key has none (RFC 8216, 5.2). */
  sequence: 6,
  isRounded: 7,
  isDiscontinuity: 8,
  mayBeAbsent: 9,
} as const;
export const columns = 10;

const keySchema = z.object({
  /** Number of the key's URL; null if `bytes` contains the key. */
  url: count.nullable(),
  bytes: bytesUpTo(64).nullable(),
  iv: bytesUpTo(16).nullable(),
});

/** Both ends are inclusive. */
const windowSchema = z.object({ start: count, end: count });
export type ByteWindow = Readonly<z.output<typeof windowSchema>>;

const initialisationSchema = z.object({
  url: count,
  range: windowSchema.nullable(),
  key: count.nullable(),
});

export const urlSchema = z.string().max(maxUrlLength);

/**
 * Everything we keep of a playlist or manifest, without objects or strings per segment, so that it is cheap to
 * send between processes.
 */
export const tableSchema = z.object({
  /** One per line. */
  urls: z.string().max(2 * maxUrlCharacters),
  /** One row per segment. */
  rows: numbersUpTo(columns * maxRows),
  keys: z.array(keySchema).max(maxRows).readonly(),
  initialisations: z.array(initialisationSchema).max(1000).readonly(),
});
export type SegmentTable = Readonly<z.output<typeof tableSchema>>;

export interface ListedSegment extends SegmentFacts {
  readonly reference: string;
  readonly range: ByteWindow | null;
  readonly key: number | null;
  readonly initialisation: number | null;
  readonly sequence: number;
  /** Listed only because a stated duration was rounded up, or is another track's. */
  readonly mayBeAbsent?: boolean;
}

/** Collects the segments of one track. Each reference is resolved and stored once. */
export class SegmentTableWriter {
  readonly #maxSegments: number;
  #baseUrl: string;
  readonly #urls: string[] = [];
  /** Numbers of URLs, keyed by their reference at the current base URL. */
  readonly #numbers = new Map<string, number>();
  readonly #rows: number[] = [];
  readonly #keys: z.output<typeof keySchema>[] = [];
  readonly #initialisations: z.output<typeof initialisationSchema>[] = [];
  readonly #initialisationNumbers = new Map<string, number>();
  #urlCharacters = 0;

  constructor(maxSegments: number, baseUrl = '') {
    this.#maxSegments = maxSegments;
    this.#baseUrl = baseUrl;
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
    if (this.#baseUrl === url) return;
    this.#baseUrl = url;
    this.#numbers.clear();
  }

  addKey(reference: string | null, bytes: Uint8Array | null, iv: Uint8Array | null): number {
    return this.#keys.push({ url: reference === null ? null : this.#numberOf(reference), bytes, iv }) - 1;
  }

  addInitialisation(reference: string, range: ByteWindow | null, key: number | null): number {
    const initialisation = { url: this.#numberOf(reference), range, key };
    const name = JSON.stringify(initialisation);
    const known = this.#initialisationNumbers.get(name);
    if (known !== undefined) return known;
    if (this.#initialisations.length >= maxInitialisations) throw invalid('changed the encoding too often');
    const number = this.#initialisations.push(initialisation) - 1;
    this.#initialisationNumbers.set(name, number);
    return number;
  }

  add(segment: ListedSegment): void {
    this.assertRoom(1);
    const { range, seconds } = segment;
    this.#rows.push(
      this.#numberOf(segment.reference),
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
    return this.#rows.at(column.url - columns) === this.#numberOf(reference);
  }

  /** The last segment plays on in the next period. */
  extendLast(seconds: number | null): void {
    const at = this.#rows.length - columns + column.seconds;
    this.#rows[at] = (this.#rows[at] ?? NaN) + (seconds ?? NaN);
  }

  finish(): SegmentTable {
    return {
      urls: this.#urls.join('\n'),
      rows: Float64Array.from(this.#rows),
      keys: this.#keys,
      initialisations: this.#initialisations,
    };
  }

  /** The number of its URL. */
  #numberOf(reference: string): number {
    const known = this.#numbers.get(reference);
    if (known !== undefined) return known;
    const url = resolveUrl(reference, this.#baseUrl);
    this.#urlCharacters += url.length;
    if (this.#urlCharacters > maxUrlCharacters) throw overLimit(`${maxUrlCharacters} characters of URLs`);
    const number = this.#urls.push(url) - 1;
    this.#numbers.set(reference, number);
    return number;
  }
}

/** Parses a non-negative integer. */
export function readCount(value: string | undefined, otherwise = 0): number {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : otherwise;
}

/** A variable in an HLS playlist (RFC 8216bis, 4.3), which may be percent-encoded. */
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
