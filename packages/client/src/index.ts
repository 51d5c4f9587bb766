export * from './client.js';
export { MediaServicesError, type LocalCode } from './errors.js';
export type { Media, Progress, RateLimit } from './media.js';
export type { RetryOptions } from './retry.js';
