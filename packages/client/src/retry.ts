import { MediaServicesError } from './errors.js';

export interface RetryOptions {
  /** How often to repeat a failed request; 2 by default. */
  readonly retries?: number;
  /** The longest `Retry-After` to wait for, in seconds; 120 by default. */
  readonly maxWaitSeconds?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait. */
  readonly onRetry?: ((error: MediaServicesError, waitSeconds: number) => void) | undefined;
}

const firstWaitSeconds = 1;
/** A longer timer ends at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Repeats `attempt` until it succeeds, fails with an error that is not `retryable`, or runs out
 * of retries. Waits for `Retry-After`, or 1 s, 2 s, 4 s, ….
 * @throws MediaServicesError of the last attempt; `signal.reason` once aborted
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  options: RetryOptions = {},
): Promise<Result> {
  const { retries = 2, maxWaitSeconds = 120, signal, onRetry } = options;
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof MediaServicesError) || !error.retryable || failures >= retries) throw error;
      const waitSeconds = error.retryAfterSeconds ?? firstWaitSeconds * 2 ** failures;
      if (waitSeconds > maxWaitSeconds) throw error;
      onRetry?.(error, waitSeconds);
      await wait(waitSeconds, signal);
    }
  }
}

/** Like `node:timers/promises`, but also for browsers. */
export async function wait(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      },
      Math.min(seconds * 1000, maxTimerMs),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
