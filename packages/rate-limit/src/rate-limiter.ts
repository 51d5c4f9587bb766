import { DomainError, gatewayClient } from '@media-services/http-common';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { clientKey } from './client-key.js';
import { WindowStore, type WindowStoreOptions, type WindowStoreStatus } from './window-store.js';

export interface RateLimiterOptions extends WindowStoreOptions {
  /** Names the limit in the RateLimit headers. */
  readonly name: string;
  /** The `detail` of a refusal, given the seconds to wait. */
  readonly refusal: (retryAfterSeconds: number, limit: number) => string;
}

export interface RateLimiter extends AsyncDisposable {
  readonly middleware: RequestHandler;
  /**
   * Goes behind the handlers of what is limited: a request that failed with such an
   * error is not counted, and its `RateLimit` header says so.
   */
  giveBackOn(isGivenBack: (thrown: unknown) => boolean): ErrorRequestHandler;
  status(): WindowStoreStatus;
}

/**
 * At most `limit` requests per client in any window, with the `RateLimit` and
 * `RateLimit-Policy` headers of the IETF draft 8. A client is the name of its key
 * where the gateway has recognised one, which may have a limit of its own, else its
 * address ({@link clientKey}).
 * A limit of 0 switches it off.
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  /** By number; keys in one file have few different ones. */
  const limits = new Map<number, Limit>();
  const limitOf = (limit: number): Limit => {
    const known = limits.get(limit);
    if (known !== undefined) return known;
    const made = createLimit({ ...options, limit });
    limits.set(limit, made);
    return made;
  };
  const givesBack = new WeakMap<Response, () => Promise<boolean>>();
  const standard = options.limit === 0 ? undefined : limitOf(options.limit);
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
      // What has begun to be answered was worked on.
      if (giveBack === undefined || res.headersSent || !isGivenBack(thrown)) {
        next(thrown);
        return;
      }
      giveBack().then((wasCounted) => {
        if (wasCounted) tellOneMore(res);
        next(thrown);
      }, next);
    },
    status: () => standard?.store.status() ?? { status: 'ok', store: 'memory' },
    [Symbol.asyncDispose]: async () => {
      for (const { store } of limits.values()) await store[Symbol.asyncDispose]();
    },
  };
}

interface Limit {
  readonly middleware: RequestHandler;
  readonly store: WindowStore;
}

function createLimit(options: RateLimiterOptions): Limit {
  const store = new WindowStore(options);
  const middleware = rateLimit({
    windowMs: options.windowMs,
    limit: options.limit,
    identifier: options.name,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: clientKey,
    store,
    // A forwarding header that is not trusted is ignored, which is not worth a warning per
    // request; and the limiters of keys are made when a key comes first, once each.
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

/** Corrects the `RateLimit` header of a request that is not counted after all. */
function tellOneMore(res: Response): void {
  const header = res.getHeader('RateLimit');
  if (typeof header !== 'string' || res.headersSent) return;
  res.setHeader(
    'RateLimit',
    header.replace(/\br=(\d+)/, (_all, left: string) => `r=${Number(left) + 1}`),
  );
}
