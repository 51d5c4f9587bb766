import type { ErrorRequestHandler, RequestHandler, Response, Router } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** In order; an error handler receives what the handlers before it threw. */
type Handlers = RequestHandler | readonly (RequestHandler | ErrorRequestHandler)[];

export interface MethodHandlers {
  readonly get?: Handlers;
  readonly post?: Handlers;
}

const routes = new WeakMap<Response, string>();

/** The matched route pattern, a bounded label; `unmatched` for unknown paths. */
export function routeOf(res: Response): string {
  return routes.get(res) ?? 'unmatched';
}

/** Registers a path's handlers. GET also handles HEAD; every other method gets 405 with `Allow`. */
export function methods(router: Router, path: string, handlers: MethodHandlers): void {
  const allow = [...(handlers.get ? ['GET', 'HEAD'] : []), ...(handlers.post ? ['POST'] : [])].join(', ');
  const route = router.route(path);
  route.all((_req, res, next) => {
    routes.set(res, path);
    next();
  });
  if (handlers.get) route.get(...[handlers.get].flat());
  if (handlers.post) route.post(...[handlers.post].flat());
  route.all((req, res) => {
    res.setHeader('Allow', allow);
    throw new DomainError(
      'method_not_allowed',
      `${path} does not support ${req.method}. Use ${allow.replaceAll(', ', ' or ')}.`,
    );
  });
}
