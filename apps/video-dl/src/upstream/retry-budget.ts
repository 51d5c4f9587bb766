import { setTimeout as delay } from 'node:timers/promises';
import type { UpstreamLimits } from './media-source.js';
import type { TransferFault } from './transfer-fault.js';

/** Fewer bytes between two faults don't count as progress, so a server can't feed us byte by byte forever. */
const progressBytes = 16 * 1024;
/** Per transfer, regardless of progress. */
const maxFaults = 1_000;

/** Counts the faults of one transfer and paces its retries. */
export class RetryBudget {
  readonly #limits: UpstreamLimits;
  #withoutProgress = 0;
  #renewalsWithoutProgress = 0;
  #total = 0;
  #bytesSinceFault = 0;

  constructor(limits: UpstreamLimits) {
    this.#limits = limits;
  }

  received(bytes: number): void {
    this.#bytesSinceFault += bytes;
  }

  /**
   * Waits before the next attempt.
   * @throws the fault when nothing can fix it or the attempts are used up; `signal.reason`
   */
  async spend(fault: TransferFault, signal: AbortSignal): Promise<void> {
    if (this.#bytesSinceFault >= progressBytes) {
      this.#withoutProgress = 0;
      this.#renewalsWithoutProgress = 0;
    }
    this.#bytesSinceFault = 0;
    this.#withoutProgress += 1;
    this.#total += 1;
    const { maxAttempts, retryDelayMs, maxRetryDelayMs, maxRetryAfterMs } = this.#limits;
    if (fault.remedy === 'renew') {
      this.#renewalsWithoutProgress += 1;
      // The site rejected a fresh URL before sending a byte, so it is rejecting us, not the URL.
      if (this.#renewalsWithoutProgress > 1) throw fault;
    }
    if (fault.remedy === 'none' || this.#withoutProgress >= maxAttempts || this.#total >= maxFaults)
      throw fault;
    // Never retry before Retry-After has passed; fail instead if that is too long to wait.
    if (fault.retryAfterMs > maxRetryAfterMs) throw fault;
    const backoff = Math.min(retryDelayMs * 2 ** (this.#withoutProgress - 1), maxRetryDelayMs);
    await delay(Math.max(backoff, fault.retryAfterMs), undefined, { signal });
  }
}
