export { streamLimits, type StreamLimits } from './stream-limits.js';
export type { StreamRelay } from './stream-relay.js';
export { StreamingService, type StreamingOptions } from './streaming-service.js';
