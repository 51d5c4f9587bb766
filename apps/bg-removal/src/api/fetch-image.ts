import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Coalescer, redirectTarget, type Guard } from '@media-services/egress-guard';
import { DomainError } from '@media-services/http-common';
import type { Dispatcher } from 'undici';
import { imageTypeOf } from '../images/image-type.js';
import { withMinRate, fileTooLarge, type MinRate } from './body-limit.js';

const maxRedirects = 5;
/** Also limits redirect targets, which the server chooses. */
export const maxUrlLength = 2048;
/** Other labels are mistakes that change nothing, such as the `aws-chunked` of storage services. */
const compressions = /\b(?:gzip|deflate|br|zstd|compress)\b/iu;
/** What some servers send although we ask for the file itself. */
const decompressors: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** These can change: a timeout, too early, too many requests. */
const passing = new Set([408, 425, 429]);
/** Enough to distinguish an image from a web page or a video. */
const headBytes = 4096;

export interface FetchImageOptions {
  readonly guard: Guard;
  /** Name lookups are limited per client. */
  readonly client: string;
  readonly maxFileBytes: number;
  readonly minRate: MinRate;
  readonly signal: AbortSignal;
}

export interface FetchedImage {
  readonly bytes: Buffer;
  /** The last segment of the final URL's path. */
  readonly name: string;
}

/** Whether a `Content-Encoding` means that the body is not the file's own bytes. */
export function isCompressed(encoding: string | undefined): boolean {
  return compressions.test(encoding ?? '');
}

/** Whether something is an http or https URL without user name and password. */
export function isWebUrl(text: string): boolean {
  return webUrl(text) !== undefined;
}

function webUrl(text: string, base?: string): URL | undefined {
  if (text.length > maxUrlLength || !URL.canParse(text, base)) return undefined;
  const url = new URL(text, base);
  const { protocol, username, password } = url;
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? url : undefined;
}

/**
 * Downloads an image. Every connection, including redirects, goes to an address that the guard
 * has checked. Stops as soon as the file is too large or its first bytes are not an image.
 * @throws DomainError `forbidden_address`, `upstream_unreachable`, `upstream_timeout`, `upstream_error`,
 * `image_not_found`, `file_too_large`, `unsupported_media_type`; the signal's reason
 */
export async function fetchImage(
  address: string,
  { guard, client, maxFileBytes, minRate, signal }: FetchImageOptions,
): Promise<FetchedImage> {
  const ended = new AbortController();
  const dispatcher = guard.createDispatcher({ signal: ended.signal, client });
  let received = 0;
  try {
    return await withMinRate(
      minRate,
      () => received,
      signal,
      async (paced) => {
        const { response, url } = await follow(address, dispatcher, paced);
        if (response.status !== 200) throw statusError(response.status);
        if (Number(response.header('content-length') ?? 0) > maxFileBytes) throw fileTooLarge(maxFileBytes);
        const bytes = await readWhole(response, maxFileBytes, (count) => (received += count));
        return { bytes, name: nameIn(url) };
      },
      () => new DomainError('upstream_timeout', 'The site sends the image too slowly. Try again later.'),
    );
  } finally {
    ended.abort();
  }
}

interface SiteResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** Delivers chunks of 16 to 64 KiB, however the server splits the data. */
  readonly body: Coalescer;
}

async function follow(
  address: string,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<{ response: SiteResponse; url: URL }> {
  let url = new URL(address);
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await request(url, dispatcher, signal);
    const location = redirectTarget(response.status, response.header('location'));
    if (location === undefined) return { response, url };
    const target = webUrl(location, url.href);
    if (target === undefined) throw siteError('redirects to something that is not a web URL');
    url = target;
  }
  throw siteError(`redirected more than ${maxRedirects} times`);
}

/**
 * Sends one GET without following redirects. The site can't control how often we work or how
 * much we store.
 */
function request(url: URL, dispatcher: Dispatcher, signal: AbortSignal): Promise<SiteResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let controller: Dispatcher.DispatchController | undefined;
    let body: Coalescer | undefined;
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', onAbort);
      body?.end(error);
      reject(error);
    };
    const onAbort = (): void => {
      const reason = signal.reason instanceof Error ? signal.reason : new Error('Aborted');
      controller?.abort(reason);
      fail(reason);
    };
    signal.addEventListener('abort', onAbort);
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: {
          // Without AVIF or HEIC, which `image/*` would include.
          accept: 'image/jpeg, image/png, image/webp, */*;q=0.1',
          'accept-encoding': 'identity',
          'user-agent': 'Mozilla/5.0 (compatible; media-services)',
        },
        // The request's deadline and the minimum rate already apply.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        onRequestStart: (started) => {
          controller = started;
          if (signal.aborted) onAbort();
        },
        onResponseStart: (started, status, headers) => {
          if (status < 200) return;
          body = new Coalescer(started);
          resolve({ status, header: (name) => [headers[name]].flat()[0], body });
        },
        onResponseData: (_controller, piece) => body?.push(piece),
        onResponseEnd: () => {
          signal.removeEventListener('abort', onAbort);
          body?.end();
        },
        onResponseError: (_controller, error) => fail(siteFailure(error)),
      },
    );
  });
}

async function readWhole(
  response: SiteResponse,
  maxBytes: number,
  onReceived: (count: number) => void,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  let isKnown = false;
  for await (const chunk of decoded(response, onReceived)) {
    length += chunk.length;
    if (length > maxBytes) throw fileTooLarge(maxBytes);
    parts.push(chunk);
    if (!isKnown && length >= headBytes) {
      imageTypeOf(Buffer.concat(parts));
      isKnown = true;
    }
  }
  return Buffer.concat(parts, length);
}

/** The file's own bytes. They are decompressed in pieces, so a reader that stops early limits them. */
async function* decoded(response: SiteResponse, onReceived: (count: number) => void): AsyncGenerator<Buffer> {
  const encoding = response.header('content-encoding');
  const chunks = receivedChunks(response, onReceived);
  if (!isCompressed(encoding)) {
    yield* chunks;
    return;
  }
  const createDecompressor = decompressors[(encoding ?? '').trim().toLowerCase()];
  if (createDecompressor === undefined) throw siteError(`compressed the image as ${encoding}`);
  const source = Readable.from(chunks, { objectMode: false });
  const decompressor = createDecompressor();
  // Reports failures of both to the loop below.
  const ended = pipeline(source, decompressor).catch(() => undefined);
  try {
    for await (const chunk of decompressor) yield chunk as Buffer;
  } catch (error) {
    throw siteFailure(error);
  } finally {
    decompressor.destroy();
    await ended;
  }
}

async function* receivedChunks(
  { body }: SiteResponse,
  onReceived: (count: number) => void,
): AsyncGenerator<Buffer> {
  for (let chunk = await read(body); chunk !== null; chunk = await read(body)) {
    onReceived(chunk.length);
    yield chunk;
  }
}

async function read(body: Coalescer): Promise<Buffer | null> {
  try {
    return await body.next();
  } catch (error) {
    throw siteFailure(error);
  }
}

/** The guard's errors are meant for clients; undici's are not. */
function siteFailure(error: unknown): Error {
  if (error instanceof DomainError) return error;
  return siteError('closed the connection early or violated HTTP. Try again later', error);
}

/** Most of a site's rejections are final. */
function statusError(status: number): DomainError {
  if (status < 400 || status >= 500 || passing.has(status))
    return siteError(`returned HTTP ${status} instead of an image. Check the URL`);
  return new DomainError(
    'image_not_found',
    `The site of the image returned HTTP ${status}. Check the URL, and that everyone may open it.`,
  );
}

function siteError(what: string, cause?: unknown): DomainError {
  return new DomainError('upstream_error', `The site of the image ${what}.`, { cause });
}

function nameIn({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
