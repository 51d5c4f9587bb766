import { type MediaServicesError, responseError } from './errors.js';
import { describeMedia, restOf, type Media, type ReceivedPart } from './media.js';
import type {
  AudioOptions,
  ClientOptions,
  CutOutOptions,
  DownloadOptions,
  Health,
  InfoOptions,
  RequestOptions,
  StreamOptions,
  VideoFormat,
  VideoInfo,
  VideoOptions,
} from './options.js';
import { Connection, formOf, isHealth, isInfo, isMedia, partOf, target } from './requests.js';
import { resumableBody, type OpenedMedia } from './resumable-body.js';
import { withRetries } from './retry.js';
import { signTarget } from './signed-url.js';

type SendRequest = (headers: Readonly<Record<string, string>>) => Promise<Response>;

/**
 * Both services behind one gateway. Every failure is a MediaServicesError, or the reason of
 * `signal` once it aborts. Retryable failures are retried.
 */
export class MediaServicesClient {
  readonly #baseUrl: string;
  readonly #key: string | undefined;
  readonly #connection: Connection;

  constructor({ baseUrl, key, fetch = globalThis.fetch }: ClientOptions) {
    this.#baseUrl = baseUrl.replace(/(?<!\/)\/+$/, '');
    this.#key = key;
    this.#connection = new Connection({ baseUrl: this.#baseUrl, key, fetch: (...args) => fetch(...args) });
  }

  /** Metadata of a page's video, and what each download will be. */
  info(url: string, options: InfoOptions = {}): Promise<VideoInfo> {
    return withRetries(async () => {
      const path = target('/api/info', { url, ...partOf(options) });
      const { response, body } = await this.#json(path, options);
      if (!response.ok || !isInfo(body)) throw responseError(response, response.ok ? undefined : body);
      return body as VideoInfo;
    }, options);
  }

  /** Whether the services work, the server's limits, and what is switched on. A busy or broken server answers too. */
  health(options: RequestOptions = {}): Promise<Health> {
    return withRetries(async () => {
      const { response, body } = await this.#json('/api/health', options);
      if (!isHealth(body)) throw responseError(response, body);
      return body as Health;
    }, options);
  }

  /** The audio of a page's video: as MP3, or with `original` as the site has it. */
  audio(url: string, options: AudioOptions = {}): Promise<Media> {
    const path = streamTarget(url, options.original === true ? 'original' : 'mp3', options);
    return this.#download((headers) => this.#get(path, headers, options), 'audio.mp3', options);
  }

  /** The video of a page as MP4. */
  video(url: string, fmt: VideoFormat = 'mp4-720', options: VideoOptions = {}): Promise<Media> {
    const path = streamTarget(url, fmt, options);
    return this.#download((headers) => this.#get(path, headers, options), 'video.mp4', options);
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
    const send: SendRequest = () =>
      this.#connection.send('/api/remove-background', {
        method: 'POST',
        body: formOf(image, name, fields),
        ...signalOf(options),
      });
    return this.#download(send, `cutout.${options.format ?? 'png'}`, options);
  }

  /** The URL of a stream, for players and links. With keys, see {@link signedUrl}. */
  streamUrl(
    url: string,
    fmt: VideoFormat | 'mp3' | 'original' = 'mp4-720',
    part: StreamOptions = {},
  ): string {
    return this.#baseUrl + streamTarget(url, fmt, part);
  }

  /**
   * A URL that works without sending the key until it expires: for players, podcast apps and `<video>`.
   * Nothing is sent to the server.
   * @param url a URL of `streamUrl`, or a `href` of `info`
   * @throws TypeError without a key, for another server's URL, or in a page over plain HTTP
   */
  async signedUrl(url: string, { lifetimeSeconds = 3600 } = {}): Promise<string> {
    if (this.#key === undefined) throw new TypeError('Only a client with a key can sign URLs.');
    const base = new URL(this.#baseUrl);
    const { origin, pathname, search } = new URL(url, base);
    const basePath = base.pathname.replace(/\/$/, '');
    const path = pathname.startsWith(`${basePath}/api/`) ? pathname.slice(basePath.length) : pathname;
    if (origin !== base.origin || !path.startsWith('/api/'))
      throw new TypeError(`${url} is not on this server.`);
    const expires = new Date(Date.now() + lifetimeSeconds * 1000);
    return this.#baseUrl + (await signTarget(path + search, this.#key, expires));
  }

  #get(path: string, headers: Readonly<Record<string, string>>, options: RequestOptions): Promise<Response> {
    return this.#connection.send(path, { headers, ...signalOf(options) });
  }

  async #json(path: string, options: RequestOptions): Promise<{ response: Response; body: unknown }> {
    const response = await this.#get(path, {}, options);
    return { response, body: await this.#connection.json(response, options.signal) };
  }

  async #download(send: SendRequest, fallbackName: string, options: DownloadOptions): Promise<Media> {
    const open = (part: ReceivedPart | undefined): Promise<OpenedMedia> =>
      withRetries(async () => {
        const response = await this.#openFrom(part, send);
        const { body: stream } = response;
        if (!isMedia(response) || stream === null) throw await this.#failure(response, options);
        return { media: describeMedia(response, fallbackName), stream };
      }, options);
    const opened = await open(options.resume);
    const { retries = 2, onProgress, signal } = options;
    return { ...opened.media, body: resumableBody(opened, { reopen: open, retries, onProgress, signal }) };
  }

  /** Requests the rest of a file, or the whole file if there is no part or the response doesn't continue it. */
  async #openFrom(part: ReceivedPart | undefined, send: SendRequest): Promise<Response> {
    if (part !== undefined) {
      const response = await send({ Range: `bytes=${part.bytes}-`, 'If-Range': part.etag });
      const { status, headers } = response;
      if (status !== 416 && (status !== 206 || restOf(headers)?.startByte === part.bytes)) return response;
      await response.body?.cancel();
    }
    const response = await send({});
    if (response.status !== 206) return response;
    // A part that nobody requested.
    await response.body?.cancel();
    throw responseError(response, undefined);
  }

  async #failure(response: Response, { signal }: RequestOptions): Promise<MediaServicesError> {
    if (response.ok) {
      await response.body?.cancel();
      return responseError(response, undefined);
    }
    return responseError(response, await this.#connection.json(response, signal));
  }
}

function streamTarget(url: string, fmt: VideoFormat | 'mp3' | 'original', part: StreamOptions): string {
  if (fmt === 'mp3' || fmt === 'original') {
    return target('/api/stream', { url, ...(fmt === 'original' && { fmt }), ...partOf(part) });
  }
  return target('/api/stream/video', { url, fmt, ...partOf(part) });
}

function signalOf({ signal }: RequestOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
