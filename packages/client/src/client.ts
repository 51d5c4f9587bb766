import createFetchClient from 'openapi-fetch';
import { z } from 'zod';
import { connectionError, responseError } from './errors.js';
import type { paths as bgRemovalPaths } from './generated/bg-removal.js';
import type { paths as videoDlPaths } from './generated/video-dl.js';
import { describeMedia, restOf, type Media, type Progress, type ReceivedPart } from './media.js';
import { resumableBody, type OpenedMedia } from './resumable-body.js';
import { withRetries, type RetryOptions } from './retry.js';

export type VideoInfo = videoDlPaths['/api/info']['get']['responses'][200]['content']['application/json'];
export type VideoFormat = NonNullable<videoDlPaths['/api/stream/video']['get']['parameters']['query']['fmt']>;

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
interface PartOptions {
  /** Number of the video on a page with several, from 1; see `items` of `info`. */
  readonly item?: number | undefined;
  /** Start and end of a clip. */
  readonly start?: Time | undefined;
  readonly end?: Time | undefined;
}

export interface InfoOptions extends RequestOptions, PartOptions {}

export interface DownloadOptions extends RequestOptions {
  /** Requests only the rest of a file. The result starts at byte 0 again if the file has changed. */
  readonly resume?: ReceivedPart | undefined;
}

export interface VideoOptions extends DownloadOptions, PartOptions {}

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

/** One result of openapi-fetch. */
interface FetchResult<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/**
 * Both services behind one gateway. Every failure is a MediaServicesError, or the reason of
 * `signal` once it aborts. Retryable failures are retried.
 */
export class MediaServicesClient {
  readonly #baseUrl: string;
  readonly #videoDl;
  readonly #bgRemoval;

  constructor({ baseUrl, key, fetch = globalThis.fetch }: ClientOptions) {
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+$/, '');
    const options = {
      baseUrl: this.#baseUrl,
      fetch: (request: Request) => connect(fetch, request, this.#baseUrl),
      headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
    };
    this.#videoDl = createFetchClient<videoDlPaths>(options);
    this.#bgRemoval = createFetchClient<bgRemovalPaths>(options);
  }

  /** Metadata of a page's video, and what each download will be. */
  info(url: string, options: InfoOptions = {}): Promise<VideoInfo> {
    const init = {
      params: { query: { url, ...partOf(options) } },
      parseAs: 'text' as const,
      ...signalOf(options),
    };
    return withRetries(async () => infoOf(await this.#videoDl.GET('/api/info', init)), options);
  }

  /** The audio of a page's video: as MP3, or with `original` as the site has it. */
  audio(url: string, options: AudioOptions = {}): Promise<Media> {
    const fmt = options.original === true ? { fmt: 'original' as const } : {};
    return download(
      (headers) => {
        const init = {
          params: { query: { url, ...fmt, ...partOf(options) } },
          parseAs: 'stream' as const,
          headers,
          ...signalOf(options),
        };
        return this.#videoDl.GET('/api/stream', init);
      },
      'audio.mp3',
      options,
    );
  }

  /** The video of a page as MP4. */
  video(url: string, fmt: VideoFormat = 'mp4-720', options: VideoOptions = {}): Promise<Media> {
    return download(
      (headers) => {
        const query = { url, fmt, ...partOf(options) };
        const init = { params: { query }, parseAs: 'stream' as const, headers, ...signalOf(options) };
        return this.#videoDl.GET('/api/stream/video', init);
      },
      'video.mp4',
      options,
    );
  }

  /**
   * Removes the background of an image. Returns a transparent PNG by default.
   * @param image the image, or its URL if the operator has enabled `image_url`
   * @param name file name of an uploaded image; the result is named after it
   */
  removeBackground(image: Blob | URL, name: string, options: CutOutOptions = {}): Promise<Media> {
    const fields = {
      threshold: options.threshold,
      feather: options.feather,
      foreground_strength: options.foregroundStrength,
      format: options.format,
      channels: options.channels,
      bg_color: options.backgroundColor,
      crop: options.crop,
      crop_margin: options.cropMargin,
      max_width: options.maxWidth,
      max_height: options.maxHeight,
    };
    return download(
      () =>
        this.#bgRemoval.POST('/api/remove-background', {
          // The generated type describes binary content as text; the serializer sends the image.
          body: { file: name },
          bodySerializer: () => formOf(image, name, fields),
          parseAs: 'stream',
          ...signalOf(options),
        }),
      `cutout.${options.format ?? 'png'}`,
      options,
    );
  }
}

function partOf({ item, start, end }: PartOptions): { item?: number; start?: string; end?: string } {
  return {
    ...(item !== undefined && { item }),
    ...(start !== undefined && { start: textOf(start) }),
    ...(end !== undefined && { end: textOf(end) }),
  };
}

/** Text for a parameter: numbers have at most six decimals and no exponent, as the services expect. */
function textOf(value: string | number | boolean): string {
  return String(typeof value === 'number' ? Number(value.toFixed(6)) : value);
}

type SendRequest = (
  headers: Readonly<Record<string, string>>,
) => Promise<FetchResult<ReadableStream<Uint8Array> | null>>;

const mediaTypes = /^(?:audio|image|video)\//i;
const ourTypes = /^(?:application\/json|(?:audio|image|video)\/)/i;

/** Distinguishes our JSON from another server's. */
const infoSchema = z.looseObject({
  title: z.string(),
  downloads: z.array(z.looseObject({ target: z.string() })),
  items: z.array(z.looseObject({ index: z.int() })),
});

async function download(send: SendRequest, fallbackName: string, options: DownloadOptions): Promise<Media> {
  const open = (part: ReceivedPart | undefined): Promise<OpenedMedia> =>
    withRetries(async () => {
      const result = await sendFor(part, send);
      const stream = contentOf(result);
      if (!isMedia(result.response)) throw responseError(result.response, undefined);
      return { media: describeMedia(result.response, fallbackName), stream };
    }, options);
  const opened = await open(options.resume);
  const { retries = 2, onProgress, signal } = options;
  return { ...opened.media, body: resumableBody(opened, { reopen: open, retries, onProgress, signal }) };
}

/** Requests the rest of a file, or the whole file if there is no part or the response doesn't continue it. */
async function sendFor(part: ReceivedPart | undefined, send: SendRequest): ReturnType<SendRequest> {
  if (part !== undefined) {
    const result = await send({ Range: `bytes=${part.bytes}-`, 'If-Range': part.etag });
    const { status, headers } = result.response;
    if (status !== 416 && (status !== 206 || restOf(headers)?.startByte === part.bytes)) return result;
    await result.data?.cancel();
  }
  const result = await send({});
  if (result.response.status !== 206) return result;
  // A part that nobody requested.
  await result.data?.cancel();
  throw responseError(result.response, undefined);
}

/** Sends a request. Resolves with any of our responses, whatever its status. */
async function connect(fetch: typeof globalThis.fetch, request: Request, baseUrl: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw connectionError(baseUrl, error);
  }
  const isOurs = ourTypes.test(response.headers.get('Content-Type') ?? '');
  if ((response.ok && !isOurs) || failedByRedirect(response)) {
    // Another server's page, such as the login of a network.
    await response.body?.cancel();
    throw responseError(response, undefined);
  }
  return isMedia(response) ? response : withText(response, request, baseUrl);
}

/** fetch follows a redirect to another origin without the key, and mostly with GET instead of POST. */
function failedByRedirect({ redirected, status }: Response): boolean {
  return redirected && [401, 404, 405].includes(status);
}

function isMedia({ ok, headers }: Response): boolean {
  return ok && mediaTypes.test(headers.get('Content-Type') ?? '');
}

/** Reads JSON and errors here, so that a connection that breaks meanwhile is reported like any other. */
async function withText(response: Response, request: Request, baseUrl: string): Promise<Response> {
  try {
    const text = await response.text();
    return new Response(text === '' ? null : text, response);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw connectionError(baseUrl, error);
  }
}

/** @throws MediaServicesError unless the response describes a page */
function infoOf(result: FetchResult<string>): VideoInfo {
  const info = parsedText(contentOf(result));
  if (!infoSchema.safeParse(info).success) throw responseError(result.response, undefined);
  return info as VideoInfo;
}

function parsedText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @throws MediaServicesError unless the response is a success with a body */
function contentOf<Data>({ data, error, response }: FetchResult<Data>): NonNullable<Data> {
  if (!response.ok || data === undefined || data === null) throw responseError(response, error);
  return data;
}

function formOf(
  image: Blob | URL,
  name: string,
  fields: Readonly<Record<string, string | number | boolean | undefined>>,
): FormData {
  const form = new FormData();
  if (image instanceof URL) form.set('image_url', image.href);
  else form.set('file', image, name);
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined) form.set(field, textOf(value));
  }
  return form;
}

function signalOf({ signal }: RequestOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
