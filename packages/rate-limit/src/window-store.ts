import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncrementResponse, Store } from 'express-rate-limit';
import { WindowLog, type Hit, type WindowLimit, type WindowLogStore } from './window-log.js';

/** A hit with the function that removes it. */
interface RefundableHit extends Hit {
  readonly refund: () => Promise<void>;
}

/** The hit that a request was counted as. */
interface CountedRequest {
  hit?: RefundableHit;
}

/**
 * One limit as a store of express-rate-limit. With a shared log, all replicas share the limit.
 * While Redis is unavailable, each process counts in memory. It always records its own hits
 * there, so switching neither admits a client twice nor rejects one early.
 */
export class WindowStore implements Store {
  readonly localKeys = false;
  readonly #limit: WindowLimit;
  readonly #memory: WindowLog;
  readonly #shared: WindowLogStore | undefined;
  /** express-rate-limit passes the key but not the request, so we find a request's hit by its async context. */
  readonly #counted = new AsyncLocalStorage<CountedRequest>();

  /**
   * @param shared owned by the caller; if absent, each process counts on its own
   * @param memory shared by stores whose clients may move from one limit to another
   */
  constructor(
    { limit, windowMs }: WindowLimit,
    shared?: WindowLogStore,
    memory: WindowLog = new WindowLog(windowMs),
  ) {
    this.#limit = { limit, windowMs };
    this.#memory = memory;
    this.#shared = shared;
  }

  async increment(key: string): Promise<IncrementResponse> {
    const hit = await this.#hit(key);
    const { accepted, hits, resetMs } = hit;
    const counted = this.#counted.getStore();
    if (accepted && counted !== undefined) counted.hit = hit;
    return {
      // express-rate-limit rejects above the limit.
      totalHits: accepted ? hits : this.#limit.limit + 1,
      resetTime: new Date(Date.now() + resetMs),
    };
  }

  /**
   * Runs the middleware that counts one request.
   * @returns a function that removes that hit; a no-op if no hit was accepted, and the second time
   */
  forRequest(run: () => void): () => Promise<boolean> {
    const counted: CountedRequest = {};
    this.#counted.run(counted, run);
    return async () => {
      const { hit } = counted;
      delete counted.hit;
      await hit?.refund();
      return hit !== undefined;
    };
  }

  /** No-op: a key alone doesn't identify which hit to remove. See {@link forRequest}. */
  decrement(): void {
    return;
  }

  async resetKey(key: string): Promise<void> {
    this.#memory.forget(key);
    if (this.#shared?.isReady) await this.#shared.forget(key);
  }

  async #hit(key: string): Promise<RefundableHit> {
    const nowMs = performance.now();
    const shared = this.#shared;
    if (!shared?.isReady) return this.#hitInMemory(key, nowMs);
    // This process's own hits alone may already reach the limit.
    const own = this.#memory.peek(key, this.#limit.limit, nowMs);
    if (!own.accepted) return { ...own, refund: () => Promise.resolve() };
    try {
      const hit = await shared.hit(key, this.#limit);
      if (hit.accepted) this.#memory.record(key, nowMs);
      return {
        ...hit,
        refund: async () => {
          this.#memory.refund(key, nowMs);
          await shared.refund(key, hit.atMicroseconds);
        },
      };
    } catch {
      return this.#hitInMemory(key, performance.now());
    }
  }

  #hitInMemory(key: string, nowMs: number): RefundableHit {
    const hit = this.#memory.hit(key, this.#limit.limit, nowMs);
    const refund = (): Promise<void> => {
      this.#memory.refund(key, nowMs);
      return Promise.resolve();
    };
    return { ...hit, refund };
  }
}
