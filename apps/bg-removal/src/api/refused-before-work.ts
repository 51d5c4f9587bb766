import { DomainError, type ErrorCode } from '@media-services/http-common';
import { PixelProcessError } from '../pixels/pixel-pool.js';
import { HeaderRefusalError } from '../remove-background.js';

const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'missing_file',
  'file_too_large',
  'unsupported_media_type',
  'overloaded',
  'rate_limited',
  'engine_unavailable',
]);

/** A failure of a request for which an image was fetched: that has cost traffic, so it counts. */
class AfterFetchError extends DomainError {
  override readonly name = 'AfterFetchError';

  constructor(cause: DomainError) {
    const { code, message, fields, retryAfterSeconds } = cause;
    super(code, message, {
      cause,
      ...(fields && { fields }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

/** Makes each failure of `work` count towards the client's images. */
export async function countingFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DomainError ? new AfterFetchError(error) : error;
  }
}

/**
 * Whether a request failed before any pixel was decoded, so that it does not count towards the client's
 * images. A process that ended at work may have ended because of the image: that counts.
 */
export function isRefusedBeforeWork(thrown: unknown): boolean {
  if (
    !(thrown instanceof DomainError) ||
    thrown instanceof PixelProcessError ||
    thrown instanceof AfterFetchError
  )
    return false;
  return thrown instanceof HeaderRefusalError || codes.has(thrown.code);
}
