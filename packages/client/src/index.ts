export { MediaServicesClient } from './client.js';
export { MediaServicesError, type ErrorCode, type LocalCode, type RejectedField } from './errors.js';
export type { Media, Progress, RateLimit, ReceivedPart } from './media.js';
export type {
  AudioOptions,
  ClientOptions,
  CutOutOptions,
  DownloadOptions,
  Health,
  InfoOptions,
  PartOptions,
  RequestOptions,
  StreamOptions,
  Time,
  VideoFormat,
  VideoInfo,
  VideoOptions,
} from './options.js';
export type { RetryOptions } from './retry.js';
