import { DomainError } from '@media-services/http-common';
import type { RequestHandler } from 'express';

/**
 * Bounds the requests that are between their first byte and their last: each
 * holds an upload in memory, so the bound is on memory too. Refuses before the
 * body is read.
 */
export function admission(maxInFlight: number): RequestHandler {
  let inFlight = 0;
  return (_req, res, next) => {
    if (inFlight >= maxInFlight) {
      throw new DomainError(
        'overloaded',
        `The service has as many images in work and waiting as it may (${maxInFlight}). Try again in a few seconds.`,
        { retryAfterSeconds: Math.max(2, 2 * maxInFlight) },
      );
    }
    inFlight++;
    res.once('close', () => inFlight--);
    next();
  };
}
