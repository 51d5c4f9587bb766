import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Extraction } from './types.js';

export interface CacheLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** URLs this close to their end are not handed out again. */
const safetyMarginMs = 5_000;
/** What plain data take in V8's heap, as a multiple of their serialized size (measured: 0.8 to 1.3). */
const heapFactor = 2;

/** Extractions in memory, each for no longer than its media URLs live; the least recently used go first. */
export class ExtractionCache {
  readonly #entries: LRUCache<string, Extraction>;

  constructor({ maxEntries, maxBytes }: CacheLimits) {
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

  /** Takes no extraction that is larger than the whole cache, or about to end. */
  set(url: string, extraction: Extraction, now: number): void {
    this.#entries.delete(url);
    if (isUsable(extraction, now)) this.#entries.set(url, extraction);
  }
}

function isUsable({ expiresAt }: Extraction, now: number): boolean {
  return now < expiresAt - safetyMarginMs;
}

/** About what an extraction occupies in memory. */
function heapBytes(extraction: Extraction, url: string): number {
  return Math.ceil((serialize(extraction).length + 2 * url.length) * heapFactor);
}
