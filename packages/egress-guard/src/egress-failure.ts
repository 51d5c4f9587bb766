import { DomainError } from '@media-services/http-common';
import type { NetworkLogger } from './network-logger.js';
import type { ProxySession } from './egress-session.js';

/** What the engine is told: its own error message is never shown, the session's failure is. */
export interface Refusal {
  readonly status: 400 | 403 | 502 | 504;
  readonly reason: string;
}

/**
 * Notes a failed connection in its session and says how to answer.
 * @returns null when the session was closed meanwhile: there is nobody to answer
 */
export function refusalFor(error: unknown, session: ProxySession, logger: NetworkLogger): Refusal | null {
  if (session.signal.aborted) return null;
  const failure =
    error instanceof DomainError
      ? error
      : new DomainError('upstream_unreachable', 'The connection to the site failed. Try again later.', {
          cause: error,
        });
  session.record(failure);
  logger.debug({ code: failure.code, err: failure }, 'egress refused');
  switch (failure.code) {
    case 'forbidden_address':
      return { status: 403, reason: 'Forbidden' };
    case 'invalid_url':
      return { status: 400, reason: 'Bad Request' };
    case 'upstream_timeout':
      return { status: 504, reason: 'Gateway Timeout' };
    default:
      return { status: 502, reason: 'Bad Gateway' };
  }
}
