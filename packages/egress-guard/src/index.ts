export { blockedRange } from './host.js';
export { Coalescer, inChunks, maxChunkBytes, TinyPiecesError } from './coalescer.js';
export { redirectTarget } from './dispatcher.js';
export { EgressProxy, type EgressOptions, type EgressSession } from './egress-proxy.js';
export { egressErrors } from './errors.js';
export { createGuard, type ConnectOptions, type Guard, type GuardOptions } from './guard.js';
export type { NetworkLogger } from './egress-session.js';
export { egressSettings } from './settings.js';
export { createSystemLookup, type LookupFn } from './system-lookup.js';
