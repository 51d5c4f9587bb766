import type { Locator, UpstreamResponse } from './upstream-request.js';

/** A URL that may expire and can be renewed. */
export interface RenewableUrl {
  /** May first load something else, such as the playlist that lists the object. */
  locate(signal: AbortSignal): Promise<Locator>;
  /**
   * Replaces an expired URL.
   * @returns false when the source can't be renewed
   */
  renew(signal: AbortSignal): Promise<boolean>;
}

/** One upstream object. All transfers of it must see the same identity. */
export class RemoteObject {
  readonly identity: ObjectIdentity;
  readonly url: RenewableUrl;
  /** Request at most this many bytes at once. */
  readonly chunkBytes: number | null;

  /** @param identity of the version seen before; bytes of any other version are rejected */
  constructor(url: RenewableUrl, chunkBytes: number | null = null, identity = new ObjectIdentity()) {
    this.identity = identity;
    this.url = url;
    this.chunkBytes = chunkBytes;
  }
}

/** What distinguishes one version of an object from another. */
interface Validators {
  readonly total: number | null;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/**
 * Remembers the version of an object in the first response, so that bytes of two
 * versions are never joined (RFC 9110 §8.8, §13.1.5).
 */
export class ObjectIdentity {
  #known: Validators = { total: null, etag: undefined, lastModified: undefined };
  #isSeen = false;
  /** Load-balanced servers may each have their own ETag for the same file. */
  #etagVaries = false;

  /** Size of the whole object in bytes, null while unknown. */
  get total(): number | null {
    return this.#known.total;
  }

  /** Whether a response arrived without a size, an ETag or a date, so that the version can't be checked. */
  get hasNoValidators(): boolean {
    const { total, etag, lastModified } = this.#known;
    return this.#isSeen && total === null && etag === undefined && lastModified === undefined;
  }

  /** For `If-Range`, which requires a strong validator. */
  get strongEtag(): string | undefined {
    const { etag } = this.#known;
    return !this.#etagVaries && etag?.startsWith('"') ? etag : undefined;
  }

  /**
   * Compares a response with earlier ones and remembers what it adds.
   * @returns what differs, or null
   */
  mismatch(response: UpstreamResponse, total: number | null): 'size' | 'version' | null {
    const { etag, lastModified } = this.#known;
    const seen = { total, etag: response.header('etag'), lastModified: response.header('last-modified') };
    if (differ(this.#known.total, seen.total)) return 'size';
    const isSameDate = lastModified !== undefined && lastModified === seen.lastModified;
    const isSameSize = this.#known.total !== null && this.#known.total === seen.total;
    if (differ(lastModified, seen.lastModified)) return 'version';
    if (differ(opaque(etag), opaque(seen.etag))) {
      if (!isSameDate || !isSameSize) return 'version';
      this.#etagVaries = true;
    }
    this.#isSeen = true;
    this.#known = {
      total: this.#known.total ?? seen.total,
      etag: etag ?? seen.etag,
      lastModified: lastModified ?? seen.lastModified,
    };
    return null;
  }
}

function differ<T>(known: T | null | undefined, seen: T | null | undefined): boolean {
  return known !== null && known !== undefined && seen !== null && seen !== undefined && known !== seen;
}

/** A proxy that compresses makes the validator weak, but it still identifies the same version. */
function opaque(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
