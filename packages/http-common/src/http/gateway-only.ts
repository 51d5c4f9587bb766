import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { DomainError } from '../errors/domain-error.js';

/** The header in which the gateway sends the secret that it shares with the services. */
const gatewaySecretHeader = 'X-Gateway-Secret';

/** A service's own health, which container platforms probe. */
const probedPath = '/api/health';

/**
 * Rejects requests that didn't come through the gateway, except for the health probe. Otherwise
 * everyone who reaches a service's port could get around the gateway's keys and limits.
 * @param secret shared with the gateway; empty for a service that is used without one
 */
export function gatewayOnly(secret: string): RequestHandler {
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
