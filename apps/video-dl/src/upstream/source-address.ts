import type { LiveSource } from './live-source.js';
import type { MediaSource } from './media-source.js';
import type { ObjectAddress } from './remote-object.js';

/**
 * Address of something that the source itself names.
 * @param urlOf finds it in the source as it is now; throws when a refreshed source has it no more
 */
export function sourceAddress(live: LiveSource, urlOf: (source: MediaSource) => string): ObjectAddress {
  let seen = live.generation;
  return {
    locate: () => {
      seen = live.generation;
      return Promise.resolve().then(() => live.locator(urlOf(live.current)));
    },
    refresh: (signal) => live.refresh(seen, signal),
  };
}
