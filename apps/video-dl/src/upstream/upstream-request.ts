import { request, type Dispatcher } from 'undici';
import { DomainError } from '@media-services/http-common';
import type { SourceCookies } from './cookies.js';
import type { UpstreamLimits } from './transfer-context.js';
import { requestHeaders } from './request-headers.js';

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
  readonly body: Dispatcher.ResponseData['body'];
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
  const late = new AbortController();
  const timer = setTimeout(() => {
    late.abort(
      new DomainError('upstream_timeout', `The site's media server ${url.hostname} did not answer in time.`),
    );
  }, limits.firstByteTimeoutMs);
  try {
    const answer = await request(url.href, {
      dispatcher,
      headers,
      signal: AbortSignal.any([signal, late.signal]),
      // The relay's own clocks know when the reader is the slow one.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    // A body that is given up on ends in an error nobody waits for any more.
    answer.body.on('error', () => undefined);
    return {
      status: answer.statusCode,
      header: (name) => [answer.headers[name]].flat()[0],
      body: answer.body,
      url: url.href,
    };
  } finally {
    clearTimeout(timer);
  }
}
