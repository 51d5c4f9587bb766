import { DomainError, type ErrorCode } from '@media-services/http-common';
import { PixelProcessError } from '../pixels/pixel-pool.js';
import { HeaderRejectionError } from '../remove-background.js';

const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'missing_file',
  'file_too_large',
  'unsupported_media_type',
  'overloaded',
  'rate_limited',
  'engine_unavailable',
]);

/** A request that failed after its image was fetched. It counts, because the download has cost traffic. */
class FailedAfterFetchError extends DomainError {
  override readonly name = 'FailedAfterFetchError';

  constructor(cause: DomainError) {
    const { code, message, fields, retryAfterSeconds } = cause;
    super(code, message, {
      cause,
      ...(fields && { fields }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

/** Makes every failure of `work` count towards the client's limit. */
export async function countFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DomainError ? new FailedAfterFetchError(error) : error;
  }
}

/**
 * Whether a request failed before any pixel was decoded, so that it does not count towards the
 * client's limit. A crash counts, because the image may have caused it.
 */
export function isRejectedBeforeWork(thrown: unknown): boolean {
  if (
    !(thrown instanceof DomainError) ||
    thrown instanceof PixelProcessError ||
    thrown instanceof FailedAfterFetchError
  )
    return false;
  return thrown instanceof HeaderRejectionError || codes.has(thrown.code);
}
