import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ClientGoneError } from '../errors/domain-error.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { gatewayClient } from './gateway-client.js';
import { attachRequestContext, type Outcome } from './request-context.js';
import { StageTimings } from './stage-timings.js';
import { problemCodeOf } from './problem-code.js';
import { routeOf } from './routes.js';

const requestIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Gives every request its id, context, timings, metrics and one log line at its end. */
export function requestLifecycle(options: { logger: Logger; metrics: Metrics }): RequestHandler {
  const { metrics } = options;

  return (req: Request, res: Response, next: NextFunction): void => {
    const given = req.get('x-request-id');
    const requestId = given !== undefined && requestIdPattern.test(given) ? given : randomUUID();
    const logger = options.logger.child({ requestId });
    const abortController = new AbortController();
    const timings = new StageTimings((stage, ms) => metrics.stageDuration.observe({ stage }, ms / 1000));
    const startedAt = performance.now();
    const notes: Record<string, string | number | boolean | null> = {};
    let outcome: Outcome | undefined;

    attachRequestContext(res, {
      requestId,
      logger,
      timings,
      signal: abortController.signal,
      note: (fields) => Object.assign(notes, fields),
      setOutcome: (value) => (outcome = value),
    });

    res.setHeader('X-Request-Id', requestId);
    sendServerTiming(res, timings, startedAt);

    metrics.requestsInFlight.inc();
    let hasEnded = false;
    const onEnd = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      forget();
      metrics.requestsInFlight.dec();
      const finished = res.writableFinished;
      if (!finished) abortController.abort(new ClientGoneError());
      const durationMs = performance.now() - startedAt;
      const failed = res.statusCode >= 400;
      const ended = outcome ?? (finished ? (failed ? 'failed' : 'ok') : 'aborted');
      const route = routeOf(res);
      const code = problemCodeOf(res) ?? 'none';
      const statusClass = `${Math.floor(res.statusCode / 100)}xx`;
      metrics.requests.inc({ route, method: boundedMethod(req.method), status_class: statusClass, code });
      metrics.outcomes.inc({ route, outcome: ended });
      metrics.requestDuration.observe({ route }, durationMs / 1000);
      // Probes ask all the time; only what is wrong is worth a line.
      const level = route === '/api/health' && !failed ? 'debug' : 'info';
      const key = gatewayClient(req)?.name;
      logger[level](
        {
          ...(key !== undefined && { key }),
          method: req.method,
          route,
          status: res.statusCode,
          outcome: ended,
          ...(code === 'none' ? {} : { code }),
          durationMs: Math.round(durationMs * 10) / 10,
          stages: timings,
          ...notes,
        },
        'request',
      );
    };
    res.once('close', onEnd);
    const forget = onSocketClose(req.socket, onEnd);
    next();
  };
}

const closeListeners = new WeakMap<Socket, Set<() => void>>();

/**
 * A response that waits behind another one of a pipelined connection hears nothing of that
 * connection's end. One listener for all of them: a client can pipeline any number.
 * @returns takes the listener away
 */
function onSocketClose(socket: Socket, listener: () => void): () => void {
  let listeners = closeListeners.get(socket);
  if (listeners === undefined) {
    const own = (listeners = new Set());
    closeListeners.set(socket, own);
    socket.once('close', () => own.forEach((each) => each()));
  }
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Server-Timing is known only when the headers are written. */
function sendServerTiming(res: Response, timings: StageTimings, startedAt: number): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
  res.writeHead = ((...args: unknown[]) => {
    if (!res.headersSent) {
      const total = `total;dur=${(performance.now() - startedAt).toFixed(1)}`;
      res.setHeader('Server-Timing', [timings.header(), total].filter(Boolean).join(', '));
    }
    return writeHead(...args);
  }) as typeof res.writeHead;
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function boundedMethod(method: string): string {
  return knownMethods.has(method) ? method : 'other';
}
