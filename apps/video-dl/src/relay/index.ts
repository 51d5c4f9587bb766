export { defaultLimits, type UpstreamLimits } from '../upstream/transfer-context.js';
export { MediaRelay } from './media-relay.js';
export type { MediaSource, RenewSource } from '../upstream/media-source.js';
export type { RelayInput, RelaySession } from './session.js';
