import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type Express, type RequestHandler, type Router } from 'express';
import { DomainError, InvalidRequestError } from '../errors/domain-error.js';
import type { ErrorTable } from '../errors/error-table.js';
import { docsUrl } from '../errors/problem.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { errorMiddleware } from './error-middleware.js';
import { requestLifecycle } from './request-lifecycle.js';

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Proxies in front: 0 standalone, 1 behind the gateway. */
  readonly trustProxyHops: number;
  /** Shared with the gateway; empty or absent if the service is used without one. */
  readonly gatewaySecret?: string;
  /** Every error code of the service. */
  readonly errors: ErrorTable;
  /** Base URL of the problems' `type` links; empty for paths on the responding host. */
  readonly docsBaseUrl: string;
  readonly routes: (router: Router) => void;
}

/** An Express app that wraps the routes in the request lifecycle and the common error format. */
export function createHttpApp(options: HttpAppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', options.trustProxyHops);
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);

  app.use(requestLifecycle(options));
  app.use((req, _res, next) => {
    if (req.httpVersion === '1.1' && req.headers.host === undefined) {
      throw new InvalidRequestError([{ field: 'Host', message: 'is a header that HTTP/1.1 requires' }]);
    }
    next();
  });
  app.use(gatewayOnly(options.gatewaySecret ?? ''));
  const router = express.Router({ caseSensitive: true, strict: true });
  options.routes(router);
  app.use(router);
  app.use((req) => {
    throw new DomainError(
      'not_found',
      `There is nothing at ${req.path.slice(0, 200)}. See ${docsUrl(options.docsBaseUrl)} for the endpoints.`,
    );
  });
  app.use(errorMiddleware({ errors: options.errors, docsBaseUrl: options.docsBaseUrl }));
  return app;
}

/** The header in which the gateway sends the secret that it shares with the services. */
const gatewaySecretHeader = 'X-Gateway-Secret';

/** A service's own health, which container platforms probe. */
const probedPath = '/api/health';

/**
 * Rejects requests that didn't come through the gateway, except for the health probe. Otherwise
 * everyone who reaches a service's port could get around the gateway's keys and limits.
 * @param secret shared with the gateway; empty for a service that is used without one
 */
function gatewayOnly(secret: string): RequestHandler {
  const expected = digest(secret);
  return (req, _res, next) => {
    const isAllowed =
      secret === '' ||
      req.path === probedPath ||
      timingSafeEqual(digest(req.get(gatewaySecretHeader) ?? ''), expected);
    if (!isAllowed) {
      throw new DomainError(
        'gateway_only',
        'This service answers only its gateway. Send the request to the gateway.',
      );
    }
    next();
  };
}

/** Of equal length, for a comparison that takes the same time for every guess. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
