import { DomainError, gatewayClient, type Logger } from '@media-services/http-common';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { clientKey } from './client-key.js';
import { RedisWindowLog } from './redis-window-log.js';
import { inMemory, type WindowLimit, type WindowLogStatus, type WindowLogStore } from './window-log.js';
import { WindowStore } from './window-store.js';

export interface RateLimiterOptions extends WindowLimit {
  /** Names the limit in the RateLimit headers. */
  readonly name: string;
  /** Absent or empty: each process counts for itself. */
  readonly redisUrl?: string;
  /** Put before every key in Redis. */
  readonly prefix: string;
  readonly logger: Logger;
  /** The `detail` of a rejection, given the seconds to wait. */
  readonly refusal: (retryAfterSeconds: number, limit: number) => string;
}

export interface RateLimiter extends AsyncDisposable {
  readonly middleware: RequestHandler;
  /**
   * Goes after the limited handlers. A request that failed with such an error
   * is not counted, and its `RateLimit` header says so.
   */
  giveBackOn(isGivenBack: (thrown: unknown) => boolean): ErrorRequestHandler;
  status(): WindowLogStatus;
}

/**
 * At most `limit` requests per client in any window, with the `RateLimit` and
 * `RateLimit-Policy` headers of the IETF draft 8. A client is identified by its key
 * if the gateway has recognised one, otherwise by its IP ({@link clientKey}). A key may
 * have its own limit. All limits share one connection to Redis.
 * A limit of 0 switches it off.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { redisUrl = '', prefix, logger } = options;
  const shared = redisUrl === '' ? undefined : new RedisWindowLog({ url: redisUrl, prefix, logger });
  /** By number; the keys of a deployment have few distinct limits. */
  const limits = new Map<number, Limit>();
  const limitOf = (limit: number): Limit => {
    const known = limits.get(limit);
    if (known !== undefined) return known;
    const made = createLimit({ ...options, limit }, shared);
    limits.set(limit, made);
    return made;
  };
  const givesBack = new WeakMap<Response, () => Promise<boolean>>();
  return {
    middleware: (req, res, next) => {
      const limit = gatewayClient(req)?.limitPerMinute ?? options.limit;
      if (limit === 0) {
        next();
        return;
      }
      const { store, middleware } = limitOf(limit);
      givesBack.set(
        res,
        store.forRequest(() => void middleware(req, res, next)),
      );
    },
    giveBackOn: (isGivenBack) => (thrown, _req, res, next) => {
      const giveBack = givesBack.get(res);
      // A response that has started means that the work was done.
      if (giveBack === undefined || res.headersSent || !isGivenBack(thrown)) {
        next(thrown);
        return;
      }
      giveBack().then((wasCounted) => {
        if (wasCounted) reportOneMore(res);
        next(thrown);
      }, next);
    },
    status: () => shared?.status() ?? inMemory,
    [Symbol.asyncDispose]: async () => {
      await shared?.[Symbol.asyncDispose]();
    },
  };
}

interface Limit {
  readonly middleware: RequestHandler;
  readonly store: WindowStore;
}

function createLimit(options: RateLimiterOptions, shared: WindowLogStore | undefined): Limit {
  const store = new WindowStore(options, shared);
  const middleware = rateLimit({
    windowMs: options.windowMs,
    limit: options.limit,
    identifier: options.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: clientKey,
    store,
    // An untrusted forwarding header is ignored, which is not worth a warning per request.
    // A limiter is created during the first request that needs it, once per distinct limit.
    validate: { xForwardedForHeader: false, forwardedHeader: false, creationStack: false },
    handler: (_req, res, next) => {
      const retryAfterSeconds = Math.max(1, Number(res.getHeader('Retry-After') ?? 1));
      next(
        new DomainError('rate_limited', options.refusal(retryAfterSeconds, options.limit), {
          retryAfterSeconds,
        }),
      );
    },
  });
  return { middleware, store };
}

/** Corrects the `RateLimit` header of a request that was given back. */
function reportOneMore(res: Response): void {
  const header = res.getHeader('RateLimit');
  if (typeof header !== 'string' || res.headersSent) return;
  res.setHeader(
    'RateLimit',
    header.replace(/\br=(\d+)/, (_all, left: string) => `r=${Number(left) + 1}`),
  );
}
