import { Coalescer, type Guard } from '@media-services/egress-guard';
import { DomainError } from '@media-services/http-common';
import type { Dispatcher } from 'undici';
import { imageTypeOf } from '../images/image-type.js';
import { fileTooLarge } from './body-limit.js';
import { atLeastRate, type LeastRate } from './least-rate.js';

const maxRedirects = 5;
/** A server chooses where it redirects. */
export const maxUrlLength = 2048;
/** Enough to tell an image from a web page or a film. */
const headBytes = 4096;

export interface FetchImageOptions {
  readonly guard: Guard;
  /** Whose look-ups these are. */
  readonly client: string;
  readonly maxFileBytes: number;
  readonly leastRate: LeastRate;
  readonly signal: AbortSignal;
}

export interface FetchedImage {
  readonly bytes: Buffer;
  /** The last part of the path that it was found under. */
  readonly name: string;
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
 * Reads an image from a URL. Each connection, those of redirects included, goes to an address that
 * the guard has checked. Stops at the first byte too many, and at the first bytes that are no image.
 * @throws DomainError `forbidden_address`, `upstream_unreachable`, `upstream_timeout`, `upstream_error`,
 * `file_too_large`, `unsupported_media_type`; the signal's reason
 */
export async function fetchImage(
  address: string,
  { guard, client, maxFileBytes, leastRate, signal }: FetchImageOptions,
): Promise<FetchedImage> {
  const ended = new AbortController();
  const dispatcher = guard.createDispatcher({ signal: ended.signal, client });
  let received = 0;
  try {
    return await atLeastRate(
      leastRate,
      () => received,
      signal,
      async (paced) => {
        const { response, url } = await follow(address, dispatcher, paced);
        if (response.status !== 200)
          throw siteError(`answered ${response.status} instead of an image. Check the URL`);
        if ((response.header('content-encoding') ?? 'identity') !== 'identity')
          throw siteError('sent the image compressed once more');
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
  /** In chunks of 16 to 64 KiB, whatever pieces the server sends. */
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
    const location = [301, 302, 303, 307, 308].includes(response.status)
      ? response.header('location')
      : undefined;
    if (location === undefined) return { response, url };
    const target = webUrl(location, url.href);
    if (target === undefined) throw siteError('redirects to something that is no web URL');
    url = target;
  }
  throw siteError(`redirected more than ${maxRedirects} times`);
}

/** One GET, which follows no redirect; the site decides neither how often we work nor what is kept. */
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
          accept: 'image/*',
          'accept-encoding': 'identity',
          'user-agent': 'Mozilla/5.0 (compatible; media-services)',
        },
        // The request's deadline and the least rate hold from the start.
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
  { body }: SiteResponse,
  maxBytes: number,
  onReceived: (count: number) => void,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  let isKnown = false;
  for (let chunk = await read(body); chunk !== null; chunk = await read(body)) {
    onReceived(chunk.length);
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

async function read(body: Coalescer): Promise<Buffer | null> {
  try {
    return await body.next();
  } catch (error) {
    throw siteFailure(error);
  }
}

/** The guard's own failures are clear; undici's are not for clients. */
function siteFailure(error: unknown): Error {
  if (error instanceof DomainError) return error;
  return siteError('broke off or does not follow the rules of HTTP. Try again later', error);
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
