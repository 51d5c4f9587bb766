export { createRateLimiter, type RateLimiter, type RateLimiterOptions } from './rate-limiter.js';
export {
  WindowLog,
  type Hit,
  type StoredHit,
  type WindowLimit,
  type WindowLogStatus,
  type WindowLogStore,
} from './window-log.js';
export { WindowStore } from './window-store.js';
