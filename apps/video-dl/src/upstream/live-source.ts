import { SingleFlight } from '../single-flight.js';
import { SourceCookies } from './cookies.js';
import type { MediaSource, RenewSource } from './media-source.js';
import type { Locator } from './upstream-request.js';

/** A source whose addresses may expire and be replaced; everything read of it shares the replacement. */
export class LiveSource {
  #source: MediaSource;
  #cookies: SourceCookies | undefined;
  #generation = 0;
  readonly #renew: RenewSource | undefined;
  readonly #renewals = new SingleFlight<void>();

  /** @param renew absent where an address that is refused is the end of it */
  constructor(source: MediaSource, renew?: RenewSource) {
    this.#source = source;
    this.#renew = renew;
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
    const renew = this.#renew;
    if (renew === undefined) return false;
    await this.#renewals.run('', signal, async (shared) => this.#replace(renew, shared));
    return true;
  }

  async #replace(renew: RenewSource, signal: AbortSignal): Promise<void> {
    const next = await renew(this.#source, signal);
    this.#source = next;
    this.#cookies = cookiesOf(next);
    this.#generation += 1;
  }
}

function cookiesOf({ cookies, url }: MediaSource): SourceCookies | undefined {
  return cookies === undefined ? undefined : new SourceCookies(cookies, url);
}
