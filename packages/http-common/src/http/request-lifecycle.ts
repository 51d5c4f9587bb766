import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ClientGoneError } from '../errors/domain-error.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { RequestSpan } from '../telemetry/tracing.js';
import { clientOf, gatewayClient, isBehindGateway } from './client.js';
import { closeAfterLongBody, onDelivered } from './delivery.js';
import { attachRequestContext, type Outcome, problemCodeOf, StageTimings } from './request-context.js';
import { routeOf } from './routes.js';

const requestIdPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** Gives every request an id, context, timings, metrics and one log line at its end. */
export function requestLifecycle(options: { logger: Logger; metrics: Metrics }): RequestHandler {
  const { metrics } = options;

  return (req: Request, res: Response, next: NextFunction): void => {
    const given = req.get('x-request-id');
    const requestId = given !== undefined && requestIdPattern.test(given) ? given : randomUUID();
    const span = new RequestSpan(req, requestId);
    const { traceId, traceparent } = span;
    const logger = options.logger.child({ requestId, ...(traceId !== undefined && { traceId }) });
    const abortController = new AbortController();
    const timings = new StageTimings((stage, ms) => {
      metrics.stageDuration.observe({ stage }, ms / 1000);
      span.stage(stage, ms);
    });
    const startedAt = performance.now();
    const notes: Record<string, string | number | boolean | null> = {};
    let outcome: Outcome | undefined;

    attachRequestContext(res, {
      requestId,
      client: clientOf(req),
      logger,
      timings,
      signal: abortController.signal,
      note: (fields) => Object.assign(notes, fields),
      setOutcome: (value) => (outcome = value),
    });

    res.setHeader('X-Request-Id', requestId);
    if (traceparent !== undefined) res.setHeader('Traceparent', traceparent);
    beforeHeaders(res, () => {
      const total = `total;dur=${(performance.now() - startedAt).toFixed(1)}`;
      res.setHeader('Server-Timing', [timings.header(), total].filter(Boolean).join(', '));
      closeAfterLongBody(res, { isForGateway: isBehindGateway(req) });
    });

    metrics.requestsInFlight.inc();
    let hasEnded = false;
    const onEnd = (isDelivered: boolean): void => {
      if (hasEnded) return;
      hasEnded = true;
      removeListener();
      metrics.requestsInFlight.dec();
      if (!res.writableFinished) abortController.abort(new ClientGoneError());
      const ended = outcome ?? (isDelivered ? (res.statusCode >= 400 ? 'failed' : 'ok') : 'aborted');
      const durationMs = performance.now() - startedAt;
      span.end(routeOf(res), res.statusCode, ended);
      report({
        req,
        res,
        logger,
        metrics,
        outcome: ended,
        durationMs,
        fields: { stages: timings, ...notes },
      });
    };
    onDelivered(res, onEnd);
    const removeListener = onSocketClose(req.socket, () => {
      if (!res.writableFinished) onEnd(false);
    });
    next();
  };
}

interface FinishedRequest {
  readonly req: Request;
  readonly res: Response;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** More fields of the log line. */
  readonly fields: object;
}

/** Counts a finished request and writes its log line. */
function report({ req, res, logger, metrics, outcome, durationMs, fields }: FinishedRequest): void {
  const route = routeOf(res);
  const code = problemCodeOf(res) ?? 'none';
  const statusClass = `${Math.floor(res.statusCode / 100)}xx`;
  metrics.requests.inc({ route, method: boundedMethod(req.method), status_class: statusClass, code });
  metrics.outcomes.inc({ route, outcome });
  metrics.requestDuration.observe({ route }, durationMs / 1000);
  // Probes are frequent; only failures are worth a line.
  const level = route === '/api/health' && res.statusCode < 400 ? 'debug' : 'info';
  const key = gatewayClient(req)?.name;
  logger[level](
    {
      ...(key !== undefined && { key }),
      method: req.method,
      route,
      status: res.statusCode,
      outcome,
      ...(code === 'none' ? {} : { code }),
      durationMs: Math.round(durationMs * 10) / 10,
      ...fields,
    },
    'request',
  );
}

const closeListeners = new WeakMap<Socket, Set<() => void>>();

/**
 * A response queued behind another one on a pipelined connection gets no event when that
 * connection closes. All of them share one listener, because a client can pipeline any number.
 * @returns removes the listener
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

/** Calls `prepare` just before the headers are written. */
function beforeHeaders(res: Response, prepare: () => void): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => Response;
  res.writeHead = ((...args: unknown[]) => {
    if (!res.headersSent) prepare();
    return writeHead(...args);
  }) as typeof res.writeHead;
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function boundedMethod(method: string): string {
  return knownMethods.has(method) ? method : 'other';
}
