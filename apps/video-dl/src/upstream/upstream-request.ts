import type { Dispatcher } from 'undici';
import { DomainError, withDeadline } from '@media-services/http-common';
import type { SourceCookies } from './cookies.js';
import type { UpstreamLimits } from './transfer-context.js';
import { requestHeaders } from './request-headers.js';
import { ResponseBody } from './response-body.js';

/** Where an object is and how to ask for it. */
export interface Locator {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: SourceCookies | undefined;
}

export interface UpstreamRequest {
  readonly locator: Locator;
  /** `Range`, `If-Range`. */
  readonly extraHeaders: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  readonly limits: UpstreamLimits;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** The first value of each. */
  header(name: string): string | undefined;
  readonly body: ResponseBody;
  /** After redirects; what relative URLs in the body refer to. */
  readonly url: string;
}

/**
 * Sends one GET and follows redirects, each hop through the guard with the
 * headers and cookies that belong there.
 * @throws DomainError of the guard, `upstream_timeout`, `upstream_error`; undici's errors; `signal.reason`
 */
export async function requestUpstream(input: UpstreamRequest): Promise<UpstreamResponse> {
  const { locator, limits } = input;
  const sourceUrl = webUrl(locator.url, undefined);
  let url = sourceUrl;
  for (let redirects = 0; ; redirects++) {
    const headers = requestHeaders({ url, sourceUrl, headers: locator.headers, cookies: locator.cookies });
    const response = await requestOnce(url, { ...headers, ...input.extraHeaders }, input);
    const location = [301, 302, 303, 307, 308].includes(response.status)
      ? response.header('location')
      : undefined;
    if (location === undefined) return response;
    response.body.destroy();
    if (redirects >= limits.maxRedirects) {
      throw new DomainError(
        'upstream_error',
        `The site's media server redirected more than ${limits.maxRedirects} times.`,
      );
    }
    url = webUrl(location, url.href);
  }
}

/** A server chooses where it redirects, and everything in a playlist is relative to that. */
const maxUrlLength = 8192;

function webUrl(url: string, base: string | undefined): URL {
  const isShort = url.length <= maxUrlLength;
  const target = isShort && URL.canParse(url, base) ? new URL(url, base) : null;
  if (!target || !['http:', 'https:'].includes(target.protocol)) {
    throw new DomainError(
      'upstream_error',
      "The site leads to something that isn't an http or https URL, or to one that is too long.",
    );
  }
  target.username = '';
  target.password = '';
  return target;
}

async function requestOnce(
  url: URL,
  headers: Record<string, string>,
  { dispatcher, limits, signal }: UpstreamRequest,
): Promise<UpstreamResponse> {
  const late = () =>
    new DomainError('upstream_timeout', `The site's media server ${url.hostname} did not answer in time.`);
  return withDeadline({ timeoutMs: limits.firstByteTimeoutMs, signal, late }, (ended) =>
    dispatch(url, headers, dispatcher, ended),
  );
}

/**
 * Sends a request; undici's own `request` would make a stream of the body, at a cost for each piece.
 * @throws undici's errors, `signal.reason`
 */
function dispatch(
  url: URL,
  headers: Record<string, string>,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let controller: Dispatcher.DispatchController | undefined;
    let body: ResponseBody | undefined;
    const onAbort = () => {
      const reason = signal.reason instanceof Error ? signal.reason : new Error('Aborted');
      body?.destroy(reason);
      controller?.abort(reason);
      reject(reason);
    };
    const settle = () => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (signal.aborted) onAbort();
      },
      onResponseStart: (started, status, received) => {
        if (status < 200) return;
        body = new ResponseBody(started);
        const header = (name: string) => [received[name]].flat()[0];
        resolve({ status, header, body, url: url.href });
      },
      onResponseData: (_controller, piece) => body?.push(piece),
      onResponseEnd: () => {
        settle();
        body?.end();
      },
      onResponseError: (_controller, error) => {
        settle();
        body?.end(error);
        reject(error);
      },
    };
    dispatcher.dispatch(
      {
        ...{ origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers },
        // Our own clocks know when the reader is the slow one.
        ...{ headersTimeout: 0, bodyTimeout: 0 },
      },
      handler,
    );
  });
}
