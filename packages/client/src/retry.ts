import { setTimeout as delay } from 'node:timers/promises';
import { MediaServicesError } from './errors.js';

export interface RetryOptions {
  /** Times that a request is sent again; 2 unless given. */
  readonly retries?: number;
  /** The longest that one `Retry-After` is waited for; 120 unless given. */
  readonly maxWaitSeconds?: number;
  readonly signal?: AbortSignal | undefined;
  /** Told before each wait. */
  readonly onRetry?: ((error: MediaServicesError, waitSeconds: number) => void) | undefined;
}

const firstWaitSeconds = 1;

/**
 * Tries until it works, the error is not `retryable`, or the tries are used up;
 * waits as long as `Retry-After` says, else 1 s, 2 s, 4 s, ….
 * @throws MediaServicesError of the last try
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { retries = 2, maxWaitSeconds = 120, signal, onRetry }: RetryOptions = {},
): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof MediaServicesError) || !error.retryable || failures >= retries) throw error;
      const waitSeconds = error.retryAfterSeconds ?? firstWaitSeconds * 2 ** failures;
      if (waitSeconds > maxWaitSeconds) throw error;
      onRetry?.(error, waitSeconds);
      await delay(waitSeconds * 1000, undefined, signal === undefined ? {} : { signal });
    }
  }
}
