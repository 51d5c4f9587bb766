import type { Locator, UpstreamResponse } from './upstream-request.js';

/** Knows where an object is at the moment. */
export interface RenewableUrl {
  /** May have to load something first, such as the playlist that lists the object. */
  locate(signal: AbortSignal): Promise<Locator>;
  /**
   * Gets a URL that works again for one that has expired.
   * @returns false when the source cannot
   */
  renew(signal: AbortSignal): Promise<boolean>;
}

/** One object upstream; all transfers of it must agree on its identity. */
export class RemoteObject {
  readonly identity: ObjectIdentity;
  readonly url: RenewableUrl;
  /** Ask for no more than so many bytes at once. */
  readonly chunkBytes: number | null;

  /** @param identity of the version that has been seen before; bytes of another one are rejected */
  constructor(url: RenewableUrl, chunkBytes: number | null = null, identity = new ObjectIdentity()) {
    this.identity = identity;
    this.url = url;
    this.chunkBytes = chunkBytes;
  }
}

/** What tells one version of an object from another. */
interface Validators {
  readonly total: number | null;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

/**
 * Remembers which version of an object the first answer was of, so that bytes
 * of two versions are never joined (RFC 9110 §8.8, §13.1.5).
 */
export class ObjectIdentity {
  #known: Validators = { total: null, etag: undefined, lastModified: undefined };
  #isSeen = false;

  /** Size of the whole object in bytes, null while unknown. */
  get total(): number | null {
    return this.#known.total;
  }

  /** Whether an answer was seen that said nothing to recognise the object by. */
  get isUnrecognisable(): boolean {
    const { total, etag, lastModified } = this.#known;
    return this.#isSeen && total === null && etag === undefined && lastModified === undefined;
  }

  /** What `If-Range` may carry: only a strong validator makes ranges joinable. */
  get strongEtag(): string | undefined {
    return this.#known.etag?.startsWith('"') ? this.#known.etag : undefined;
  }

  /**
   * Compares an answer with what is known and learns what it adds.
   * @returns what differs, null when they agree
   */
  disagreement(response: UpstreamResponse, total: number | null): 'size' | 'version' | null {
    const { etag, lastModified } = this.#known;
    const seen = { total, etag: response.header('etag'), lastModified: response.header('last-modified') };
    if (differ(this.#known.total, seen.total)) return 'size';
    if (differ(opaque(etag), opaque(seen.etag)) || differ(lastModified, seen.lastModified)) return 'version';
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

/** Compression on the way makes a validator weak without changing what it names. */
function opaque(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}
