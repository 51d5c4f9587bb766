import { SingleFlight } from '../single-flight.js';
import { SourceCookies } from './cookies.js';
import type { MediaSource, RenewSource } from './media-source.js';
import { RemoteObject, type ObjectIdentity, type RenewableUrl } from './remote-object.js';
import type { Locator } from './upstream-request.js';

/** A source whose URLs may expire and be replaced; everything read of it shares the replacement. */
export class RenewableSource {
  #source: MediaSource;
  #cookies: SourceCookies | undefined;
  #generation = 0;
  readonly #renew: RenewSource | undefined;
  /** One that several wait for goes on when the first of them leaves. */
  readonly #renewals = new SingleFlight<void>();

  /** @param renew absent where a URL that is refused is the end of it */
  constructor(source: MediaSource, renew?: RenewSource) {
    this.#source = source;
    this.#cookies = cookiesOf(source);
    this.#renew = renew;
  }

  get current(): MediaSource {
    return this.#source;
  }

  /** Goes up with every renewal. */
  get generation(): number {
    return this.#generation;
  }

  /** How to ask for a URL of this source. */
  locator(url: string): Locator {
    return { url, headers: this.#source.headers, cookies: this.#cookies };
  }

  /**
   * Where something is that the source itself names.
   * @param urlOf finds it in the source as it is now; throws when a renewed source has it no more
   */
  renewableUrl(urlOf: (source: MediaSource) => string): RenewableUrl {
    let seen = this.#generation;
    return {
      locate: () => {
        seen = this.#generation;
        return Promise.resolve().then(() => this.locator(urlOf(this.#source)));
      },
      renew: (signal) => this.renew(seen, signal),
    };
  }

  /**
   * Renews the source, once for all who ask at the same time.
   * @param seen the generation whose URL failed: nothing is done when it has been replaced already
   * @returns false when the source cannot be renewed
   */
  async renew(seen: number, signal: AbortSignal): Promise<boolean> {
    if (seen !== this.#generation) return true;
    const renew = this.#renew;
    if (renew === undefined) return false;
    await this.#renewals.run('', signal, async (shared) => this.#become(await renew(this.#source, shared)));
    return true;
  }

  #become(next: MediaSource): void {
    this.#source = next;
    this.#cookies = cookiesOf(next);
    this.#generation += 1;
  }
}

/** The file that a source names. @param identity as for `RemoteObject` */
export function fileObject(source: RenewableSource, identity?: ObjectIdentity): RemoteObject {
  return new RemoteObject(
    source.renewableUrl(({ url }) => url),
    source.current.chunkBytes ?? null,
    identity,
  );
}

function cookiesOf({ cookies, url }: MediaSource): SourceCookies | undefined {
  return cookies === undefined ? undefined : new SourceCookies(cookies, url);
}
