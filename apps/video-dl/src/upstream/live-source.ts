import { SourceCookies } from './cookies.js';
import type { MediaSource } from './media-source.js';
import type { Locator } from './upstream-request.js';

/** A source whose addresses may expire and be replaced; everything read of it shares the replacement. */
export class LiveSource {
  #source: MediaSource;
  #cookies: SourceCookies | undefined;
  #generation = 0;
  #refreshing: Promise<void> | null = null;

  constructor(source: MediaSource) {
    this.#source = source;
    this.#cookies = cookiesOf(source);
  }

  get current(): MediaSource {
    return this.#source;
  }

  /** Goes up with every refresh. */
  get generation(): number {
    return this.#generation;
  }

  /** How to ask for an address of this source. */
  locator(url: string): Locator {
    return { url, headers: this.#source.headers, cookies: this.#cookies };
  }

  /**
   * Extracts again, once for all who ask at the same time.
   * @param seen the generation whose address failed: nothing is done when it has been replaced already
   * @returns false when the source cannot be refreshed
   */
  async refresh(seen: number, signal: AbortSignal): Promise<boolean> {
    if (seen !== this.#generation) return true;
    const { refresh } = this.#source;
    if (!refresh) return false;
    this.#refreshing ??= this.#replace(refresh, signal).finally(() => (this.#refreshing = null));
    await this.#refreshing;
    return true;
  }

  async #replace(refresh: NonNullable<MediaSource['refresh']>, signal: AbortSignal): Promise<void> {
    const next = await refresh(signal);
    this.#source = { ...next, refresh: next.refresh ?? refresh };
    this.#cookies = cookiesOf(next);
    this.#generation += 1;
  }
}

function cookiesOf({ cookies, url }: MediaSource): SourceCookies | undefined {
  return cookies === undefined ? undefined : new SourceCookies(cookies, url);
}
