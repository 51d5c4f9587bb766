export interface Deadline {
  readonly timeoutMs: number;
  /** Aborts the work too, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** Creates the abort reason for a timeout. */
  readonly late: () => Error;
}

/**
 * Runs `work` with a signal that aborts on timeout (with `late()`) or when `signal` aborts.
 * Waits until the work ends, so the work must respect its signal; `untilAborted` helps with
 * that.
 */
export async function withDeadline<T>(
  { timeoutMs, signal, late }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  let abort: NodeJS.Immediate | undefined;
  // A busy process may not have read yet what arrived in time: timers run before input.
  const timer = setTimeout(() => {
    abort = setImmediate(() => deadline.abort(late()));
  }, timeoutMs);
  try {
    return await work(signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal);
  } finally {
    clearTimeout(timer);
    clearImmediate(abort);
  }
}

/**
 * Waits for work that can't be cancelled, until the signal aborts.
 * @throws the signal's reason, or the work's own error
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** An aborted signal's reason as an Error, whatever it was aborted with. */
export function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('Aborted', { cause: reason });
}
