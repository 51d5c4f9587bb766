import { DomainError } from '@media-services/http-common';

export interface LeastRate {
  /** Less than this, over a whole window, is too slow; 0 for no limit. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

/**
 * Runs `transfer` for as long as enough of it passes: a client that sends or takes
 * next to nothing would hold its place up to the deadline.
 * @param passed bytes so far; never goes back
 * @throws DomainError `timeout`, or what `tooSlowError` makes, when less than the least rate passed in a window
 * @throws what `transfer` throws; its signal aborts when it is too slow
 */
export async function atLeastRate<T>(
  { bytesPerSecond, windowMs }: LeastRate,
  passed: () => number,
  signal: AbortSignal,
  transfer: (signal: AbortSignal) => Promise<T>,
  tooSlowError: () => DomainError = () => tooSlowClient(bytesPerSecond),
): Promise<T> {
  if (bytesPerSecond === 0) return transfer(signal);
  const tooSlow = new AbortController();
  let before = passed();
  const timer = setInterval(() => {
    const now = passed();
    if (now - before < (bytesPerSecond * windowMs) / 1000) tooSlow.abort(tooSlowError());
    before = now;
  }, windowMs);
  try {
    return await transfer(AbortSignal.any([signal, tooSlow.signal]));
  } finally {
    clearInterval(timer);
  }
}

function tooSlowClient(bytesPerSecond: number): DomainError {
  return new DomainError(
    'timeout',
    `The connection passed less than ${bytesPerSecond} bytes a second. Try again with a faster one, or with a smaller image.`,
  );
}
