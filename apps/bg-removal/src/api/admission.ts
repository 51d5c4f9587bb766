import { DomainError } from '@media-services/http-common';
import type { Request, RequestHandler } from 'express';

export interface AdmissionOptions {
  /** Requests between their first byte and their last; each holds an upload or its answer in memory. */
  readonly places: number;
  /** Whom a request is counted for. */
  readonly clientKey: (req: Request) => string;
}

/**
 * Bounds the requests in flight, and with them the memory that they hold, before
 * the body is read. A client is let in while it holds fewer places than are free
 * (the dynamic thresholds of Choudhury and Hahne, 1998): one alone gets at most
 * half of them, n greedy ones leave about one in n + 1, so that a newcomer finds
 * a place whoever else is there.
 */
export function admission({ places, clientKey }: AdmissionOptions): RequestHandler {
  const held = new Map<string, number>();
  let free = places;
  return (req, res, next) => {
    const key = clientKey(req);
    const own = held.get(key) ?? 0;
    if (free <= 0) throw busy(places);
    if (own >= free) throw enoughOfOneClient(own);
    held.set(key, own + 1);
    free--;
    res.once('close', () => {
      free++;
      const left = (held.get(key) ?? 1) - 1;
      if (left > 0) held.set(key, left);
      else held.delete(key);
    });
    next();
  };
}

function busy(places: number): DomainError {
  return new DomainError(
    'overloaded',
    `The service has as many images in work and waiting as it may (${places}). Try again in a few seconds.`,
    { retryAfterSeconds: Math.max(2, 2 * places) },
  );
}

function enoughOfOneClient(own: number): DomainError {
  const images = own === 1 ? 'an image' : `${own} images`;
  return new DomainError(
    'rate_limited',
    `This client has ${images} in work and waiting, as many as one may while others want to be served. Send the next one when one is done.`,
    { retryAfterSeconds: 3 },
  );
}
