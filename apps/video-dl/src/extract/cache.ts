import { serialize } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Extraction } from './types.js';

/** URLs this close to their expiry aren't reused. */
const safetyMarginMs = 5_000;
/** Size of plain data in V8's heap, as a multiple of its serialized size (measured: 0.8 to 1.3). */
const heapFactor = 2;

/** An LRU cache of extractions, each kept only while its media URLs are valid. */
export class ExtractionCache extends LRUCache<string, Extraction> {
  constructor({ maxEntries, maxBytes }: { readonly maxEntries: number; readonly maxBytes: number }) {
    super({ max: maxEntries, maxSize: maxBytes, sizeCalculation: heapBytes, perf: Date });
  }

  /** Ignores an extraction that is larger than the whole cache or about to expire. */
  override set(url: string, extraction: Extraction): this {
    const ttl = extraction.expiresAt - safetyMarginMs - Date.now();
    if (ttl <= 0) this.delete(url);
    else super.set(url, extraction, { ttl });
    return this;
  }
}

/** Approximate memory use of an extraction. */
function heapBytes(extraction: Extraction, url: string): number {
  return Math.ceil((serialize(extraction).length + 2 * url.length) * heapFactor);
}

/** Unix seconds or milliseconds, from 2020 on. */
const time = String.raw`((?:1[6-9]|[23])\d{8})(?:\d{3})?(?!\d)`;
/** CloudFront and others have a parameter, Akamai has several in one. */
const expiry = new RegExp(`[?&=~](?:exp|expires?|expiration|e|end|validuntil|x-expires)=${time}`, 'gi');

/**
 * The expiry that a media URL states, in the forms that can be minutes away. Extractions aren't kept for longer.
 * @returns milliseconds since the epoch, or null if it states none
 */
export function urlExpiry(mediaUrl: string): number | null {
  const text = mediaUrl.replaceAll(/%3d/gi, '=').replaceAll(/%7e/gi, '~');
  const stated = [...text.matchAll(expiry)].map(([, seconds]) => Number(seconds) * 1000);
  return stated.length === 0 ? null : Math.min(...stated);
}
