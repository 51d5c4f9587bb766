import { setTimeout as delay } from 'node:timers/promises';
import type { UpstreamLimits } from './transfer-context.js';
import type { TransferFault } from './transfer-fault.js';

/** Less than this between two faults is no progress: a server must not be able to feed byte by byte for ever. */
const progressBytes = 16 * 1024;
/** Over a whole transfer, whatever the progress. */
const maxFaults = 1_000;

/** Counts the faults of one transfer and paces its repetitions. */
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
   * @throws the fault when nothing helps or it has been tried often enough; `signal.reason`
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
      // A new URL that is refused before a byte of it came: the site refuses us, not the URL.
      if (this.#renewalsWithoutProgress > 1) throw fault;
    }
    if (fault.remedy === 'none' || this.#withoutProgress >= maxAttempts || this.#total >= maxFaults)
      throw fault;
    // A server that names a longer pause than anybody waits is not asked again before it is over.
    if (fault.retryAfterMs > maxRetryAfterMs) throw fault;
    const backoff = Math.min(retryDelayMs * 2 ** (this.#withoutProgress - 1), maxRetryDelayMs);
    await delay(Math.max(backoff, fault.retryAfterMs), undefined, { signal });
  }
}
