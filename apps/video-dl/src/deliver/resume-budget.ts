import { DomainError } from '@media-services/http-common';
import { LRUCache } from 'lru-cache';

const maxClients = 10_000;
const refillMs = 3_600_000;

interface Balance {
  readonly seconds: number;
  readonly at: number;
}

/**
 * Limits how much audio each client may skip per hour. To resume an MP3, we encode it from its
 * beginning and discard what the client already has, so the last byte costs as much as the whole
 * file. The budget is enough to resume the longest MP3 once an hour.
 */
export class ResumeBudget {
  readonly #maxSeconds: number;
  readonly #balances = new LRUCache<string, Balance>({ max: maxClients });

  constructor(maxSeconds: number) {
    this.#maxSeconds = maxSeconds;
  }

  /**
   * @param seconds of audio to encode and discard
   * @throws DomainError `rate_limited` when the client has skipped too much
   */
  spend(client: string, seconds: number): void {
    const now = performance.now();
    const balance = this.#balanceOf(client, now);
    const missing = Math.min(seconds, this.#maxSeconds) - balance;
    if (missing > 0) {
      const waitSeconds = Math.ceil((missing / this.#maxSeconds) * (refillMs / 1000));
      throw new DomainError(
        'rate_limited',
        `You have resumed MP3 downloads too often. Wait ${waitSeconds} s, or request the whole file.`,
        { retryAfterSeconds: waitSeconds },
      );
    }
    this.#balances.set(client, { seconds: balance - seconds, at: now });
  }

  #balanceOf(client: string, now: number): number {
    const known = this.#balances.get(client);
    if (known === undefined) return this.#maxSeconds;
    return Math.min(this.#maxSeconds, known.seconds + ((now - known.at) / refillMs) * this.#maxSeconds);
  }
}
