import { ObjectIdentity } from './object-identity.js';
import type { Locator } from './upstream-request.js';

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
  readonly identity = new ObjectIdentity();
  readonly url: RenewableUrl;
  /** Ask for no more than so many bytes at once. */
  readonly chunkBytes: number | null;

  constructor(url: RenewableUrl, chunkBytes: number | null = null) {
    this.url = url;
    this.chunkBytes = chunkBytes;
  }
}
