import type { paths } from './generated/api.js';
import type { Progress, ReceivedPart } from './media.js';
import type { RetryOptions } from './retry.js';

type Body<Path extends '/api/info' | '/api/health'> =
  paths[Path]['get']['responses'][200]['content']['application/json'];
export type VideoInfo = Body<'/api/info'>;
export type Health = Body<'/api/health'>;
export type VideoFormat = NonNullable<
  NonNullable<paths['/api/stream/video']['get']['parameters']['query']>['fmt']
>;

export interface ClientOptions {
  /** URL of the gateway, including its base path: `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** The access key, if the operator requires one. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface RequestOptions extends RetryOptions {
  readonly onProgress?: Progress;
}

/** A position in the video: seconds, or text such as `1:30` or `0:01:30.5`. */
export type Time = number | string;

/** Selects a part of a page's media. */
export interface PartOptions {
  /** Number of the video on a page with several, from 1; see `items` of `info`. */
  readonly item?: number | undefined;
  /** Start and end of a clip. */
  readonly start?: Time | undefined;
  readonly end?: Time | undefined;
  /** Number of a chapter, from 1, instead of `start` and `end`; see `chapters` of `info`. */
  readonly chapter?: number | undefined;
}

export interface InfoOptions extends RequestOptions, PartOptions {}

export interface DownloadOptions extends RequestOptions {
  /** Requests only the rest of a file. The result starts at byte 0 again if the file has changed. */
  readonly resume?: ReceivedPart | undefined;
}

/** Selects a part of a page's media, and its language. */
export interface StreamOptions extends PartOptions {
  /** Language of the audio, such as `de`; see `audioLanguages` of `info`. */
  readonly lang?: string | undefined;
  /** Languages of subtitles to add to an MP4, such as `de,en`; see `subtitles` of `info`. */
  readonly subtitles?: string | undefined;
}

export interface VideoOptions extends DownloadOptions, StreamOptions {}

export interface AudioOptions extends VideoOptions {
  /** The best audio without re-encoding, such as M4A, Opus or FLAC, instead of MP3. */
  readonly original?: boolean | undefined;
}

export interface CutOutOptions extends RequestOptions {
  /** 0 to 255. */
  readonly threshold?: number | undefined;
  /** Pixels, 0 to 24. */
  readonly feather?: number | undefined;
  /** 0.5 to 2. */
  readonly foregroundStrength?: number | undefined;
  /** `png` by default. `jpg` has a background: `backgroundColor`, or white by default. */
  readonly format?: 'png' | 'webp' | 'jpg' | undefined;
  /** `alpha`: the matte alone, as a grey PNG. */
  readonly channels?: 'rgba' | 'alpha' | undefined;
  /** Hex (`#ffffff`, with opacity `#ffffff80`) or a CSS colour name. */
  readonly backgroundColor?: string | undefined;
  /** Crops to the subject. */
  readonly crop?: boolean | undefined;
  /** Margin around the cropped subject: `20px` or `10%`. */
  readonly cropMargin?: string | undefined;
  /** Pixels. Larger results are scaled down, keeping their proportions. */
  readonly maxWidth?: number | undefined;
  readonly maxHeight?: number | undefined;
}
