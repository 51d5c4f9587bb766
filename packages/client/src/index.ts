export * from './client.js';
export { MediaServicesError, type LocalCode } from './errors.js';
export type { Media, Progress, RateLimit, ReceivedPart } from './media.js';
export type { RetryOptions } from './retry.js';
