import { Coalescer, redirectTarget } from '@media-services/egress-guard';
import { abortReason, DomainError, withDeadline } from '@media-services/http-common';
import type { Dispatcher } from 'undici';
import { cookieHeader, type Cookie } from './cookies.js';
import type { TransferContext } from './media-source.js';

/** A URL with the headers and cookies to request it. */
export interface Locator {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly Cookie[] | undefined;
  /** Absent if each request follows them anew. */
  readonly redirects?: Redirects;
}

/** Where the redirects of a URL led. Some servers lead each request to another file, with other advertisements. */
export interface Redirects {
  target: string | null;
}

/** How servers say that a redirect's target is only valid for a while. */
const expired = new Set([403, 404, 410]);

interface UpstreamRequest extends Pick<TransferContext, 'dispatcher' | 'limits'> {
  readonly locator: Locator;
  /** `Range`, `If-Range`. */
  readonly extraHeaders: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface UpstreamResponse {
  readonly status: number;
  /** The first value of a header. */
  header(name: string): string | undefined;
  /** After redirects; the base of relative URLs in the body. */
  readonly url: string;
  /**
   * The bytes, with backpressure. Leaving the loop early destroys the response.
   * @param idleTimeoutMs maximum wait for the next byte; the reader's own pauses don't count
   * @throws DomainError `upstream_timeout`; the connection's error
   */
  chunks(idleTimeoutMs: number): AsyncGenerator<Buffer, void, void>;
  /** Closes the connection, unless the response is complete. */
  destroy(error?: Error): void;
}

/**
 * Sends one GET and follows redirects, or continues where they led before. Each hop goes through the guard and gets only
 * the headers and cookies meant for it.
 * @throws DomainError of the guard, `upstream_timeout`, `upstream_error`; undici's errors; `signal.reason`
 */
export async function requestUpstream(input: UpstreamRequest): Promise<UpstreamResponse> {
  const { redirects } = input.locator;
  const target = redirects?.target ?? null;
  if (redirects === undefined || target === null) return follow(input, input.locator.url);
  const response = await follow(input, target);
  if (!expired.has(response.status)) return response;
  response.destroy();
  redirects.target = null;
  return follow(input, input.locator.url);
}

async function follow(input: UpstreamRequest, from: string): Promise<UpstreamResponse> {
  const { locator, limits } = input;
  let url = webUrl(from, undefined);
  for (let redirects = 0; ; redirects++) {
    const headers = { ...headersFor(url, locator), ...input.extraHeaders };
    const response = await requestOnce(url, headers, input);
    const location = redirectTarget(response.status, response.header('location'));
    if (location === undefined) {
      const isMedia = response.status === 200 || response.status === 206;
      if (locator.redirects !== undefined && isMedia && redirects > 0) locator.redirects.target = url.href;
      return response;
    }
    response.destroy();
    if (redirects >= limits.maxRedirects) {
      throw new DomainError(
        'upstream_error',
        `The site's media server redirected more than ${limits.maxRedirects} times. Try again later, or use another page or format.`,
      );
    }
    url = webUrl(location, url.href);
  }
}

/** Headers that we set ourselves, and hop-by-hop headers. */
const ownHeader =
  /^(?:accept-encoding|connection|content-length|cookie|expect|host|if-range|keep-alive|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/;

/** The headers the extractor asked for, plus the cookies for `url`. Credentials are never sent to another origin. */
function headersFor(url: URL, { url: sourceUrl, headers, cookies = [] }: Locator): Record<string, string> {
  const isOwnOrigin = url.origin === new URL(sourceUrl).origin;
  const kept = Object.entries(headers).filter(([name, value]) => {
    const isValid = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !/[^\t\x20-\x7e\x80-\xff]/.test(value);
    const lower = name.toLowerCase();
    return isValid && !ownHeader.test(lower) && (lower !== 'authorization' || isOwnOrigin);
  });
  const cookie = cookieHeader(cookies, url);
  // Lengths and offsets must count the bytes of the file, not of a compressed form.
  return {
    ...Object.fromEntries(kept),
    'accept-encoding': 'identity',
    ...(cookie !== undefined && { cookie }),
  };
}

/** The server chooses the redirect target, and every relative URL in a playlist is resolved against it. */
const maxUrlLength = 8192;

function webUrl(url: string, base: string | undefined): URL {
  const isShort = url.length <= maxUrlLength;
  const target = isShort && URL.canParse(url, base) ? new URL(url, base) : null;
  if (!target || !['http:', 'https:'].includes(target.protocol)) {
    throw new DomainError(
      'upstream_error',
      "The site redirects to a URL that is too long or isn't http or https. Try another page or format.",
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
    new DomainError(
      'upstream_timeout',
      `The site's media server ${url.hostname} didn't respond in time. Try again later.`,
    );
  return withDeadline({ timeoutMs: limits.firstByteTimeoutMs, signal, late }, (ended) =>
    dispatch(url, headers, dispatcher, ended),
  );
}

/**
 * Sends a request. undici's own `request` would wrap the body in a stream, which costs time for each piece.
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
      const reason = abortReason(signal);
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
        const arriving = new ResponseBody(started);
        body = arriving;
        resolve({
          status,
          url: url.href,
          header: (name) => [received[name]].flat()[0],
          chunks: (idleTimeoutMs) => arriving.chunks(idleTimeoutMs),
          destroy: (error) => arriving.destroy(error),
        });
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
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers,
        // Our own timeouts exclude the time when the reader is slow.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
  });
}

/** The bytes in chunks of 16 to 64 KiB however small the pieces the server sends. */
class ResponseBody {
  readonly #controller: Dispatcher.DispatchController;
  readonly #coalescer: Coalescer;
  #receivedAt = Number.NEGATIVE_INFINITY;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    this.#coalescer = new Coalescer(controller);
  }

  /** Called by the connection only. */
  push(piece: Buffer): void {
    this.#receivedAt = performance.now();
    this.#coalescer.push(piece);
  }

  /** Called by the connection only. */
  end(error?: Error): void {
    this.#coalescer.end(error);
  }

  destroy(error: Error = new Error('the response was abandoned')): void {
    this.#coalescer.end(error);
    this.#controller.abort(error);
  }

  async *chunks(idleTimeoutMs: number): AsyncGenerator<Buffer, void, void> {
    let waitingSince = Number.POSITIVE_INFINITY;
    const isIdle = () => performance.now() - Math.max(waitingSince, this.#receivedAt) >= idleTimeoutMs;
    const endIfIdle = () => {
      if (isIdle()) this.destroy(stoppedSending());
    };
    // A busy process may not have read yet what has arrived: timers run before input.
    const watch = setInterval(
      () => {
        if (isIdle()) setImmediate(endIfIdle);
      },
      Math.min(idleTimeoutMs / 4, 1_000),
    );
    try {
      for (;;) {
        waitingSince = performance.now();
        const chunk = await this.#coalescer.next();
        waitingSince = Number.POSITIVE_INFINITY;
        if (chunk === null) return;
        yield chunk;
      }
    } finally {
      clearInterval(watch);
      this.destroy();
    }
  }
}

function stoppedSending(): DomainError {
  return new DomainError('upstream_timeout', "The site's media server stopped sending. Try again later.");
}
