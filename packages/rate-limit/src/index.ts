export { clientKey } from './client-key.js';
export { createRateLimiter, type RateLimiter, type RateLimiterOptions } from './rate-limiter.js';
export { RedisWindowLog, type RedisHit } from './redis-window-log.js';
export { WindowLog, type Hit, type WindowLimit } from './window-log.js';
export { WindowStore, type WindowStoreOptions, type WindowStoreStatus } from './window-store.js';
