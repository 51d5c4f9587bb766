import { DomainError, type ErrorCode } from '@media-services/http-common';
import { PixelProcessError } from '../pixels/pixel-pool.js';
import { HeaderRejectionError, RejectedAfterWorkError } from '../remove-background.js';

const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'invalid_request',
  'missing_file',
  'file_too_large',
  'unsupported_media_type',
  'overloaded',
  'rate_limited',
  'engine_unavailable',
]);

/** A failure of a stage that decides whether the request counts. */
class StageError extends DomainError {
  override readonly name = 'StageError';

  constructor(
    cause: DomainError,
    readonly counts: boolean,
  ) {
    const { code, message, fields, retryAfterSeconds } = cause;
    super(code, message, {
      cause,
      ...(fields && { fields }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

/** Makes every failure of `work` count towards the client's limit: a fetched image has cost traffic. */
export function countFailures<T>(work: () => Promise<T>): Promise<T> {
  return markFailures(work, true);
}

/** Makes no failure of `work` count, such as an upload that is too slow. */
export function excuseFailures<T>(work: () => Promise<T>): Promise<T> {
  return markFailures(work, false);
}

async function markFailures<T>(work: () => Promise<T>, counts: boolean): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DomainError ? new StageError(error, counts) : error;
  }
}

/**
 * Whether a request failed before any pixel was decoded, so that it does not count towards the
 * client's limit. A crash counts, because the image may have caused it.
 */
export function isRejectedBeforeWork(thrown: unknown): boolean {
  if (thrown instanceof StageError) return !thrown.counts;
  if (thrown instanceof PixelProcessError || thrown instanceof RejectedAfterWorkError) return false;
  if (!(thrown instanceof DomainError)) return false;
  return thrown instanceof HeaderRejectionError || codes.has(thrown.code);
}
