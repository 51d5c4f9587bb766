import type { ErrorRequestHandler, Response } from 'express';
import { ClientGoneError, DomainError, InvalidRequestError } from '../errors/domain-error.js';
import {
  problemMediaType,
  retryAfterSeconds,
  toDomainError,
  toProblem,
  type ProblemContext,
} from '../errors/problem.js';
import { requestContext, setProblemCode } from './request-context.js';
import { resetConnection } from './reset-connection.js';

/**
 * Sends every error as problem+json. After the first byte, only a connection reset can signal
 * the failure.
 */
export function errorMiddleware(options: Omit<ProblemContext, 'requestId'>): ErrorRequestHandler {
  return (thrown: unknown, _req, res, _next) => {
    const context = requestContext(res);
    if (thrown instanceof ClientGoneError || (context.signal.aborted && thrown === context.signal.reason)) {
      context.setOutcome('aborted');
      res.destroy();
      return;
    }
    const error = requestSyntaxError(thrown) ?? toDomainError(thrown);
    setProblemCode(res, error.code);
    // An invalid request's message names its parameters, and even a name may be a secret.
    context.note({ reason: error instanceof InvalidRequestError ? 'invalid parameters' : error.message });
    if (error.cause !== undefined) {
      const level = error.code === 'internal_error' ? 'error' : 'info';
      context.logger[level]({ err: error.cause, code: error.code }, error.message);
    }
    if (res.headersSent) {
      context.setOutcome('truncated');
      resetConnection(res);
      return;
    }
    sendProblem(res, error, { ...options, requestId: context.requestId });
  };
}

function sendProblem(res: Response, error: DomainError, context: ProblemContext): void {
  const problem = toProblem(error, context);
  for (const header of [
    'Content-Disposition',
    'Content-Length',
    'Content-Encoding',
    'Cache-Control',
    'ETag',
  ]) {
    res.removeHeader(header);
  }
  const retryAfter = retryAfterSeconds(error, problem.status);
  if (retryAfter !== undefined && !res.hasHeader('Retry-After'))
    res.setHeader('Retry-After', String(retryAfter));
  res.status(problem.status);
  res.setHeader('Content-Type', problemMediaType);
  res.setHeader('Cache-Control', 'no-store');
  res.end(JSON.stringify(problem));
}

/** Express and its parsers mark malformed requests, such as `/%ff`, with a 4xx status. */
function requestSyntaxError(thrown: unknown): DomainError | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown) || thrown instanceof DomainError) return undefined;
  const { status } = thrown;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return new DomainError(
    'invalid_request',
    'The request is malformed. Check how its path and query are encoded.',
    {
      fields: [{ field: 'request', message: 'is malformed' }],
      cause: thrown,
    },
  );
}
