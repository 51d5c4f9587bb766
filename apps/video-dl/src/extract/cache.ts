import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Extraction } from './types.js';

/** URLs this close to their expiry aren't reused. */
const safetyMarginMs = 5_000;
/** Size of plain data in V8's heap, as a multiple of its serialized size (measured: 0.8 to 1.3). */
const heapFactor = 2;

/** An LRU cache of extractions, each kept only while its media URLs are valid. */
export class ExtractionCache {
  readonly #entries: LRUCache<string, Extraction>;

  constructor({ maxEntries, maxBytes }: { readonly maxEntries: number; readonly maxBytes: number }) {
    this.#entries = new LRUCache({ max: maxEntries, maxSize: maxBytes, sizeCalculation: heapBytes });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param now milliseconds since the epoch */
  get(url: string, now: number): Extraction | undefined {
    const extraction = this.#entries.get(url);
    if (extraction === undefined || isUsable(extraction, now)) return extraction;
    this.#entries.delete(url);
    return undefined;
  }

  /** Ignores an extraction that is larger than the whole cache or about to expire. */
  set(url: string, extraction: Extraction, now: number): void {
    this.#entries.delete(url);
    if (isUsable(extraction, now)) this.#entries.set(url, extraction);
  }
}

function isUsable({ expiresAt }: Extraction, now: number): boolean {
  return now < expiresAt - safetyMarginMs;
}

/** Approximate memory use of an extraction. */
function heapBytes(extraction: Extraction, url: string): number {
  return Math.ceil((serialize(extraction).length + 2 * url.length) * heapFactor);
}

/** Query parameters with the expiry of a media URL in Unix seconds. */
const expiryParameter = /^(?:exp|expires?|expiration|e|end|validuntil|x-expires|se|hdnea_exp|oe)$/;

const year2020Seconds = 1_577_836_800;
const year2100Seconds = 4_102_444_800;

/**
 * The expiry that a media URL states.
 * @returns milliseconds since the epoch, or null if it states none
 */
export function urlExpiry(mediaUrl: string): number | null {
  let url: URL;
  try {
    url = new URL(mediaUrl);
  } catch {
    // Not a URL; fetching it will report that.
    return null;
  }
  const known = [
    ...[...url.searchParams].flatMap(([name, value]) => parameterExpiry(name, value)),
    ...pathExpiry(url.pathname),
    ...amazonExpiry(url.searchParams),
  ];
  return known.length === 0 ? null : Math.min(...known);
}

function parameterExpiry(name: string, value: string): number[] {
  // Akamai: hdnts=st=1700000000~exp=1700003600~acl=…
  const token = /(?:^|~)exp=(\d+)/.exec(value)?.[1];
  if (token !== undefined) return unixSeconds(token);
  const lower = name.toLowerCase();
  if (!expiryParameter.test(lower)) return [];
  // Azure's `se` is ISO 8601; Facebook's `oe` is hexadecimal.
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return [Date.parse(value)].filter((time) => !Number.isNaN(time));
  return lower === 'oe' && /^[0-9a-f]{8}$/i.test(value)
    ? unixSeconds(String(Number.parseInt(value, 16)))
    : unixSeconds(value);
}

/** YouTube's manifests have their parameters in the path: `/expire/1700000000/`. */
function pathExpiry(path: string): number[] {
  const value = /\/expires?[/=](\d{10})(?:\/|$)/.exec(path)?.[1];
  return value === undefined ? [] : unixSeconds(value);
}

/** AWS Signature Version 4: a date and a lifetime in seconds. */
function amazonExpiry(query: URLSearchParams): number[] {
  const [date, lifetime] = [query.get('X-Amz-Date'), query.get('X-Amz-Expires')];
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date ?? '');
  if (match === null || lifetime === null || !/^\d+$/.test(lifetime)) return [];
  const [, year, month, day, hours, minutes, seconds] = match.map(Number);
  const signedAt = Date.UTC(year ?? 0, (month ?? 1) - 1, day, hours, minutes, seconds);
  return [signedAt + Number(lifetime) * 1000];
}

function unixSeconds(value: string): number[] {
  if (!/^\d{10,13}$/.test(value)) return [];
  const seconds = value.length === 13 ? Number(value) / 1000 : Number(value);
  return seconds > year2020Seconds && seconds < year2100Seconds ? [seconds * 1000] : [];
}
