import { DomainError, type ErrorCode } from '@media-services/http-common';

/** The error code of failing work. */
export function codeOf(work: () => unknown): ErrorCode {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
  throw new Error('it did not fail');
}

/** Milliseconds of CPU time that some work takes. */
export function timed<Result>(work: () => Result): { readonly result: Result; readonly ms: number } {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: (user + system) / 1000 };
}

/** Other programs and the garbage collector slow down some rounds, but not all. */
const maxRounds = 8;

/**
 * Fails if 16 times as much input takes far more than 16 times as long. In quadratic time it
 * takes 256 times as long.
 * @param prepare makes the work for an input of about this many bytes
 */
export function expectLinearTime(prepare: (bytes: number) => () => unknown, maxBytes = 1_600_000): void {
  const [small, large] = [prepare(maxBytes / 16), prepare(maxBytes)];
  let [smallMs, largeMs] = [Infinity, Infinity];
  for (let round = 0; round < maxRounds; round += 1) {
    smallMs = Math.min(smallMs, timed(small).ms);
    largeMs = Math.min(largeMs, timed(large).ms);
    if (largeMs < 100 * smallMs) return;
  }
  // A small input takes less time than can be measured.
  expect(largeMs).toBeLessThan(100 * smallMs + 300);
}
