interface Deadline {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Makes the error for when the time is up. */
  readonly late: () => Error;
}

/**
 * Waits for work that cannot itself be cancelled, up to a deadline or an abort.
 * @throws `late()` when the time is up, `signal.reason` when aborted, what the work throws
 */
export async function withDeadline<T>(work: Promise<T>, { timeoutMs, signal, late }: Deadline): Promise<T> {
  signal?.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const interrupted = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), timeoutMs);
    onAbort = () => reject(abortReason(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, interrupted]);
  } finally {
    clearTimeout(timer);
    if (onAbort) signal?.removeEventListener('abort', onAbort);
  }
}

/** An aborted signal's reason as an Error, whatever it was aborted with. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
