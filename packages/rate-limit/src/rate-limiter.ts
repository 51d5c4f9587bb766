import { DomainError } from '@media-services/http-common';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';
import { WindowStore, type WindowStoreOptions, type WindowStoreStatus } from './window-store.js';

export interface RateLimiterOptions extends WindowStoreOptions {
  /** Names the limit in the RateLimit headers. */
  readonly name: string;
  /** The `detail` of a refusal, given the seconds to wait. */
  readonly refusal: (retryAfterSeconds: number) => string;
}

export interface RateLimiter extends AsyncDisposable {
  readonly middleware: RequestHandler;
  status(): WindowStoreStatus;
}

/** IPv6 clients own at least a /64. */
const ipv6PrefixLength = 64;

/**
 * At most `limit` requests per client address in any window, with the
 * `RateLimit` and `RateLimit-Policy` headers of the IETF draft 8. The address
 * is Express's `req.ip`, so only configured proxies can tell another one.
 * A limit of 0 switches it off.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  if (options.limit === 0) {
    return {
      middleware: (_req, _res, next) => next(),
      status: () => ({ status: 'ok', store: 'memory' }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const store = new WindowStore(options);
  const middleware = rateLimit({
    windowMs: options.windowMs,
    limit: options.limit,
    identifier: options.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    ipv6Subnet: ipv6PrefixLength,
    store,
    // A forwarding header that is not trusted is ignored, which is not worth a warning per request.
    validate: { xForwardedForHeader: false, forwardedHeader: false },
    handler: (_req, res, next) => {
      const retryAfterSeconds = Math.max(1, Number(res.getHeader('Retry-After') ?? 1));
      next(new DomainError('rate_limited', options.refusal(retryAfterSeconds), { retryAfterSeconds }));
    },
  });
  return {
    middleware,
    status: () => store.status(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
