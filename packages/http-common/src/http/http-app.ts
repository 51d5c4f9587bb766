import express, { type Express, type Router } from 'express';
import { DomainError, InvalidRequestError } from '../errors/domain-error.js';
import type { ErrorTable } from '../errors/error-table.js';
import { docsUrl } from '../errors/problem.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { errorMiddleware } from './error-middleware.js';
import { gatewayOnly } from './gateway-only.js';
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
