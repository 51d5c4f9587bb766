import type { MediaSource, TransferContext } from './media-source.js';
import { ObjectIdentity } from './object-identity.js';
import type { RenewableSource } from './renewable-source.js';
import type { Locator } from './upstream-request.js';

interface ObjectOptions {
  /**
   * Picks its URL from the source or its list of segments, which may have to be read first. Throws when a renewed
   * source no longer has it. Defaults to the source's own URL.
   */
  readonly urlOf?: (source: MediaSource, signal: AbortSignal) => string | Promise<string>;
  /** Of the version seen before. Bytes of any other version are rejected. */
  readonly identity?: ObjectIdentity | undefined;
}

/** One file or segment of a source. All transfers of it must see the same version, and follow every renewal. */
export class RemoteObject {
  readonly identity: ObjectIdentity;
  readonly context: TransferContext;
  /** Request at most this many bytes at once. */
  readonly chunkBytes: number | null;
  readonly #source: RenewableSource;
  readonly #urlOf: NonNullable<ObjectOptions['urlOf']>;
  /** The source that the URL in use was taken from. */
  #used: MediaSource;

  constructor(source: RenewableSource, { urlOf = ({ url }) => url, identity }: ObjectOptions = {}) {
    this.identity = identity ?? new ObjectIdentity();
    this.context = source.context;
    this.chunkBytes = source.current.chunkBytes ?? null;
    this.#source = source;
    this.#urlOf = urlOf;
    this.#used = source.current;
  }

  /** Where to request it now. */
  async locate(signal: AbortSignal): Promise<Locator> {
    const url = await this.#urlOf(this.#source.current, signal);
    // Reading a list may itself have renewed the source.
    this.#used = this.#source.current;
    return this.#source.locator(url);
  }

  /** Replaces an expired URL. @returns false when the source can't be renewed */
  async renew(signal: AbortSignal): Promise<boolean> {
    return this.#source.renew(this.#used, signal);
  }
}
