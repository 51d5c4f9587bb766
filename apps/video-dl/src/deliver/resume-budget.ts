import { DomainError } from '@media-services/http-common';
import { LRUCache } from 'lru-cache';

const maxClients = 10_000;
const refillMs = 3_600_000;

/**
 * Limits how much audio each client may skip per hour. To resume an MP3, we encode it from its
 * beginning and discard what the client already has, so the last byte costs as much as the whole
 * file. The budget is enough to resume the longest MP3 once an hour.
 */
export class ResumeBudget {
  readonly #maxSeconds: number;
  /** When each client's budget is full again. */
  readonly #fullAt = new LRUCache<string, number>({ max: maxClients });

  constructor(maxSeconds: number) {
    this.#maxSeconds = maxSeconds;
  }

  /**
   * @param seconds of audio to encode and discard
   * @throws DomainError `rate_limited` when the client has skipped too much
   */
  spend(client: string, seconds: number): void {
    const now = performance.now();
    const fullAt = Math.max(now, this.#fullAt.get(client) ?? now);
    const share = seconds / this.#maxSeconds;
    const waitMs = fullAt + Math.min(share, 1) * refillMs - (now + refillMs);
    if (waitMs > 0) {
      const waitSeconds = Math.ceil(waitMs / 1000);
      throw new DomainError(
        'rate_limited',
        `You have resumed MP3 downloads too often. Wait ${waitSeconds} s, or request the whole file.`,
        { retryAfterSeconds: waitSeconds },
      );
    }
    this.#fullAt.set(client, fullAt + share * refillMs);
  }
}
