import type { FetchOptions, OpenOptions, RelaySession } from '../relay/index.js';

/** What streaming needs of the media relay. */
export interface StreamRelay {
  open(options: OpenOptions): RelaySession;
  fetchBytes(url: string, options: FetchOptions): Promise<{ bytes: Uint8Array }>;
}
