import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncrementResponse, Store } from 'express-rate-limit';
import { WindowLog, type Hit, type WindowLimit, type WindowLogStore } from './window-log.js';

/** A hit with the function that removes it. */
interface CountedHit extends Hit {
  readonly giveBack: () => Promise<void>;
}

/** The hit that a request was counted as. */
interface Counted {
  hit?: CountedHit;
}

/**
 * One limit as a store of express-rate-limit. With a shared log, all replicas
 * share the limit. While that is unavailable each process counts in memory,
 * where it always records its own hits: the change neither admits a client
 * twice nor rejects one early.
 */
export class WindowStore implements Store {
  readonly localKeys = false;
  readonly #limit: WindowLimit;
  readonly #memory: WindowLog;
  readonly #shared: WindowLogStore | undefined;
  /** express-rate-limit passes the key but not the request, so we find a request's hit by its async context. */
  readonly #counted = new AsyncLocalStorage<Counted>();

  /** @param shared belongs to the caller; absent, each process counts for itself */
  constructor({ limit, windowMs }: WindowLimit, shared?: WindowLogStore) {
    this.#limit = { limit, windowMs };
    this.#memory = new WindowLog(this.#limit);
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
    const counted: Counted = {};
    this.#counted.run(counted, run);
    return async () => {
      const { hit } = counted;
      delete counted.hit;
      await hit?.giveBack();
      return hit !== undefined;
    };
  }

  /** A key alone does not say which of its hits to remove; {@link forRequest} does. */
  decrement(): void {
    return;
  }

  async resetKey(key: string): Promise<void> {
    this.#memory.forget(key);
    if (this.#shared?.isReady) await this.#shared.forget(key);
  }

  async #hit(key: string): Promise<CountedHit> {
    const nowMs = performance.now();
    const shared = this.#shared;
    if (!shared?.isReady) return this.#hitInMemory(key, nowMs);
    // This process's own hits alone may already reach the limit.
    const own = this.#memory.peek(key, nowMs);
    if (!own.accepted) return { ...own, giveBack: () => Promise.resolve() };
    try {
      const hit = await shared.hit(key, this.#limit);
      if (hit.accepted) this.#memory.record(key, nowMs);
      return {
        ...hit,
        giveBack: async () => {
          this.#memory.giveBack(key, nowMs);
          await shared.giveBack(key, hit.atMicroseconds);
        },
      };
    } catch {
      return this.#hitInMemory(key, performance.now());
    }
  }

  #hitInMemory(key: string, nowMs: number): CountedHit {
    const hit = this.#memory.hit(key, nowMs);
    const giveBack = (): Promise<void> => {
      this.#memory.giveBack(key, nowMs);
      return Promise.resolve();
    };
    return { ...hit, giveBack };
  }
}
