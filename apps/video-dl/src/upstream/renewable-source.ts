import { SingleFlight } from '../single-flight.js';
import type { MediaSource, RenewSource, TransferContext } from './media-source.js';
import type { Locator, Redirects } from './upstream-request.js';

/** Of each file, as long as its extraction lives, so that all requests for it read the same file. */
const redirectsOf = new WeakMap<MediaSource, Redirects>();

/** A source whose URLs may expire and be replaced. All its readers share the replacement. */
export class RenewableSource {
  readonly context: TransferContext;
  #source: MediaSource;
  readonly #renew: RenewSource | undefined;
  /** A shared renewal continues when the caller that started it leaves. */
  readonly #renewals = new SingleFlight<void>();

  /** @param renew absent if a rejected URL is final */
  constructor(source: MediaSource, context: TransferContext, renew?: RenewSource) {
    this.context = context;
    this.#source = source;
    this.#renew = renew;
  }

  /** A different object after every renewal. */
  get current(): MediaSource {
    return this.#source;
  }

  /** A URL of this source with the headers and cookies to request it. */
  locator(url: string): Locator {
    const source = this.#source;
    const locator = { url, headers: source.headers, cookies: source.cookies };
    if (source.kind !== 'file' || url !== source.url) return locator;
    const redirects = redirectsOf.get(source) ?? { target: null };
    redirectsOf.set(source, redirects);
    return { ...locator, redirects };
  }

  /**
   * Renews the source. Concurrent callers share one renewal.
   * @param failed whose URL failed; a no-op if it has already been replaced
   * @returns false when the source can't be renewed
   */
  async renew(failed: MediaSource, signal: AbortSignal): Promise<boolean> {
    if (failed !== this.#source) return true;
    const renew = this.#renew;
    if (renew === undefined) return false;
    await this.#renewals.run('', signal, async (shared) => {
      this.#source = await renew(failed, shared);
    });
    return true;
  }
}
