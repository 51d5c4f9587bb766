import { DomainError, gatewayClient, requestContext, type Logger } from '@media-services/http-common';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { inMemory, WindowLog, type WindowLimit, type WindowLogStatus } from './window-log.js';
import { WindowStore } from './window-store.js';

export interface RateLimiterOptions extends WindowLimit {
  /** Names the limit in the RateLimit headers. */
  readonly name: string;
  /** Absent or empty: each process counts on its own. */
  readonly redisUrl?: string;
  /** Prefix of every key in Redis. */
  readonly prefix: string;
  readonly logger: Logger;
  /** The `detail` of a rejection, given the seconds to wait. */
  readonly rejectionDetail: (retryAfterSeconds: number, limit: number) => string;
}

export interface RateLimiter extends AsyncDisposable {
  readonly middleware: RequestHandler;
  /**
   * Error middleware to use after the limited handlers. Removes a request's hit if its error is
   * refundable, and corrects its `RateLimit` header.
   */
  refundIf(isRefundable: (thrown: unknown) => boolean): ErrorRequestHandler;
  status(): WindowLogStatus;
}

/**
 * At most `limit` requests per client in any window, with the `RateLimit` and
 * `RateLimit-Policy` headers of the IETF draft 8. A key may have its own limit; when it changes, the key's earlier requests still count. All limits share one connection
 * to Redis. A limit of 0 disables limiting.
 */
export async function createRateLimiter(options: RateLimiterOptions): Promise<RateLimiter> {
  const shared = await sharedLog(options);
  const memory = new WindowLog(options.windowMs);
  /** Limits by number of requests; a deployment's keys have few distinct limits. */
  const limits = new Map<number, Limit>();
  const limitOf = (limit: number): Limit => {
    const known = limits.get(limit);
    if (known !== undefined) return known;
    const made = createLimit({ ...options, limit }, new WindowStore({ ...options, limit }, shared, memory));
    limits.set(limit, made);
    return made;
  };
  const refunds = new WeakMap<Response, () => Promise<boolean>>();
  return {
    middleware: (req, res, next) => {
      const limit = gatewayClient(req)?.limitPerMinute ?? options.limit;
      if (limit === 0) {
        next();
        return;
      }
      const { store, middleware } = limitOf(limit);
      refunds.set(
        res,
        store.forRequest(() => void middleware(req, res, next)),
      );
    },
    refundIf: (isRefundable) => (thrown, _req, res, next) => {
      const refund = refunds.get(res);
      // If the response has started, the work was done.
      if (refund === undefined || res.headersSent || !isRefundable(thrown)) {
        next(thrown);
        return;
      }
      refund().then((wasCounted) => {
        if (wasCounted) incrementRemaining(res);
        next(thrown);
      }, next);
    },
    status: () => shared?.status() ?? inMemory,
    [Symbol.asyncDispose]: async () => {
      await shared?.[Symbol.asyncDispose]();
    },
  };
}

/** Without Redis, its client isn't even loaded. */
async function sharedLog({ redisUrl = '', prefix, logger }: RateLimiterOptions) {
  if (redisUrl === '') return undefined;
  const { RedisWindowLog } = await import('./redis-window-log.js');
  return new RedisWindowLog({ url: redisUrl, prefix, logger });
}

interface Limit {
  readonly middleware: RequestHandler;
  readonly store: WindowStore;
}

function createLimit(options: RateLimiterOptions, store: WindowStore): Limit {
  const middleware = rateLimit({
    windowMs: options.windowMs,
    limit: options.limit,
    identifier: options.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_req, res) => requestContext(res).client,
    store,
    // An untrusted forwarding header is ignored, which is not worth a warning per request.
    // A limiter is created during the first request that needs it, once per distinct limit.
    validate: { xForwardedForHeader: false, forwardedHeader: false, creationStack: false },
    handler: (_req, res, next) => {
      const retryAfterSeconds = Math.max(1, Number(res.getHeader('Retry-After') ?? 1));
      next(
        new DomainError('rate_limited', options.rejectionDetail(retryAfterSeconds, options.limit), {
          retryAfterSeconds,
        }),
      );
    },
  });
  return { middleware, store };
}

/** Adds the refunded request back to the `RateLimit` header. */
function incrementRemaining(res: Response): void {
  const header = res.getHeader('RateLimit');
  if (typeof header !== 'string' || res.headersSent) return;
  res.setHeader(
    'RateLimit',
    header.replace(/\br=(\d+)/, (_all, left: string) => `r=${Number(left) + 1}`),
  );
}
