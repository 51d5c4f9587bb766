export { refusedRange } from './address-ranges.js';
export { Coalescer, inChunks, maxChunkBytes, TinyPiecesError } from './coalescer.js';
export { EgressProxy, type EgressOptions, type EgressSession } from './egress-proxy.js';
export { egressErrors } from './errors.js';
export { createGuard, type ConnectOptions, type Guard, type GuardOptions } from './guard.js';
export type { NetworkLogger } from './network-logger.js';
export { egressSettings } from './settings.js';
export { createSystemLookup, type LookupFn } from './system-lookup.js';
