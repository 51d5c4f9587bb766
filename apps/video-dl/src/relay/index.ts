export { defaultLimits, type RelayLimits } from '../upstream/limits.js';
export { MediaRelay, type FetchOptions, type MediaRelayOptions, type OpenOptions } from './media-relay.js';
export type { MediaFragment, MediaSource, RenewSource } from '../upstream/media-source.js';
export type { OpenFile, RelayInput, RelaySession } from './session.js';
