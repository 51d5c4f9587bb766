import createFetchClient from 'openapi-fetch';
import { errorOfAnswer, errorOfConnection } from './errors.js';
import type { paths as bgRemovalPaths } from './generated/bg-removal.js';
import type { paths as videoDlPaths } from './generated/video-dl.js';
import { mediaOf, type Media, type Progress } from './media.js';
import { withRetries, type RetryOptions } from './retry.js';

export type VideoInfo = videoDlPaths['/api/info']['get']['responses'][200]['content']['application/json'];
export type VideoFormat = NonNullable<videoDlPaths['/api/stream/video']['get']['parameters']['query']['fmt']>;

export interface ClientOptions {
  /** URL of the gateway, its base path included: `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  /** Where the operator asks for keys. */
  readonly key?: string | undefined;
  /** In the place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface RequestOptions extends RetryOptions {
  readonly onProgress?: Progress;
}

export interface CutOutOptions extends RequestOptions {
  /** 0 to 255. */
  readonly threshold?: number | undefined;
  /** Pixels, 0 to 24. */
  readonly feather?: number | undefined;
  /** 0.5 to 2. */
  readonly foregroundStrength?: number | undefined;
}

/** One answer of openapi-fetch, of whatever operation. */
interface Answer<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Both services behind one gateway. Every failure is a MediaServicesError, or an
 * AbortError when `signal` has ended the request; what is `retryable` is tried again.
 */
export class MediaServicesClient {
  readonly #baseUrl: string;
  readonly #videoDl;
  readonly #bgRemoval;

  constructor({ baseUrl, key, fetch = globalThis.fetch }: ClientOptions) {
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+$/, '');
    const options = {
      baseUrl: this.#baseUrl,
      fetch: (request: Request) => connected(fetch, request, this.#baseUrl),
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
    };
    this.#videoDl = createFetchClient<videoDlPaths>(options);
    this.#bgRemoval = createFetchClient<bgRemovalPaths>(options);
  }

  /** What is on a page, and what each download will be. */
  info(url: string, options: RequestOptions = {}): Promise<VideoInfo> {
    const init = { params: { query: { url } }, ...signalOf(options) };
    return withRetries(async () => contentOf(await this.#videoDl.GET('/api/info', init)), options);
  }

  /** The audio of a page's video as MP3. */
  audio(url: string, options: RequestOptions = {}): Promise<Media> {
    const init = { params: { query: { url } }, parseAs: 'stream' as const, ...signalOf(options) };
    return withRetries(async () => {
      const answer = await this.#videoDl.GET('/api/stream', init);
      return mediaOf(answer.response, contentOf(answer), 'audio.mp3', options.onProgress);
    }, options);
  }

  /** The video of a page as MP4. */
  video(url: string, fmt: VideoFormat = 'mp4-720', options: RequestOptions = {}): Promise<Media> {
    const init = { params: { query: { url, fmt } }, parseAs: 'stream' as const, ...signalOf(options) };
    return withRetries(async () => {
      const answer = await this.#videoDl.GET('/api/stream/video', init);
      return mediaOf(answer.response, contentOf(answer), 'video.mp4', options.onProgress);
    }, options);
  }

  /** The subject of an image as transparent PNG; `name` is what the result is called after. */
  removeBackground(image: Blob, name: string, options: CutOutOptions = {}): Promise<Media> {
    const { threshold, feather, foregroundStrength } = options;
    const fields = { threshold, feather, foreground_strength: foregroundStrength };
    return withRetries(async () => {
      const answer = await this.#bgRemoval.POST('/api/remove-background', {
        // The type knows binary content as text only; the serializer below puts the image in.
        body: { file: name },
        bodySerializer: () => formOf(image, name, fields),
        parseAs: 'stream',
        ...signalOf(options),
      });
      return mediaOf(answer.response, contentOf(answer), 'cutout.png', options.onProgress);
    }, options);
  }
}

/** A request that gets an answer, whatever it is. */
async function connected(
  fetch: typeof globalThis.fetch,
  request: Request,
  baseUrl: string,
): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw errorOfConnection(baseUrl, error);
  }
}

/** @throws MediaServicesError unless the answer is a success with a body */
function contentOf<Data>({ data, error, response }: Answer<Data>): NonNullable<Data> {
  if (!response.ok || data === undefined || data === null) throw errorOfAnswer(response, error);
  return data;
}

function formOf(image: Blob, name: string, fields: Readonly<Record<string, number | undefined>>): FormData {
  const form = new FormData();
  form.set('file', image, name);
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) form.set(field, String(value));
  }
  return form;
}

function signalOf({ signal }: RequestOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
