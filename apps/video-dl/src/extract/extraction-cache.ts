import type { Extraction } from './types.js';

export interface CacheLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

interface Entry {
  readonly extraction: Extraction;
  readonly bytes: number;
}

/** Addresses this close to their end are not handed out again. */
const safetyMarginMs = 5_000;

/** Extractions in memory, each for no longer than its media addresses live; the least recently used go first. */
export class ExtractionCache {
  readonly #limits: CacheLimits;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limits: CacheLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param now milliseconds since the epoch */
  get(url: string, now: number): Extraction | undefined {
    const entry = this.#entries.get(url);
    if (entry === undefined) return undefined;
    this.delete(url);
    if (now >= entry.extraction.expiresAt - safetyMarginMs) return undefined;
    this.#entries.set(url, entry);
    this.#bytes += entry.bytes;
    return entry.extraction;
  }

  set(url: string, extraction: Extraction, now: number): void {
    this.delete(url);
    const bytes = approximateBytes(extraction);
    if (now >= extraction.expiresAt - safetyMarginMs || bytes > this.#limits.maxBytes) return;
    this.#entries.set(url, { extraction, bytes });
    this.#bytes += bytes;
    while (this.#entries.size > this.#limits.maxEntries || this.#bytes > this.#limits.maxBytes) {
      const oldest = this.#entries.keys().next();
      if (oldest.done === true) break;
      this.delete(oldest.value);
    }
  }

  delete(url: string): void {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    this.#entries.delete(url);
    this.#bytes -= entry.bytes;
  }
}

/** What an extraction occupies, roughly: its addresses and texts, two bytes a character. */
function approximateBytes({ formats, description }: Extraction): number {
  const overheadPerFormat = 1000;
  const characters = formats.reduce(
    (sum, { source }) =>
      sum +
      source.url.length +
      (source.fragments ?? []).reduce((total, { url }) => total + url.length + 40, 0),
    description?.length ?? 0,
  );
  return 2 * characters + formats.length * overheadPerFormat;
}
