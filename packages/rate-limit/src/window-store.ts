import { AsyncLocalStorage } from 'node:async_hooks';
import { errorCode, type Logger } from '@media-services/http-common';
import type { IncrementResponse, Store } from 'express-rate-limit';
import { z } from 'zod';
import { RedisWindowLog } from './redis-window-log.js';
import { WindowLog, type Hit, type WindowLimit } from './window-log.js';

export interface WindowStoreOptions extends WindowLimit {
  /** Absent or empty: each process counts for itself. */
  readonly redisUrl?: string;
  readonly prefix: string;
  readonly logger: Logger;
}

/** A hit with the way to take it back. */
interface CountedHit extends Hit {
  readonly giveBack: () => Promise<void>;
}

/** What a request was counted for. */
interface Counted {
  hit?: CountedHit;
}

/** Where hits are counted: `degraded` while Redis is configured but away. */
export interface WindowStoreStatus {
  readonly status: 'ok' | 'degraded';
  readonly store: 'memory' | 'redis';
  /** While degraded: what Redis, or the way to it, said last. Without addresses and credentials. */
  readonly reason?: string;
}

/**
 * The sliding-window log as a store of express-rate-limit. With Redis, all
 * replicas share one limit; while Redis is away each process goes on counting
 * in memory, where it has kept its own hits all along, so that nobody is let
 * in twice at the change and nobody is turned away for it.
 */
export class WindowStore implements Store, AsyncDisposable {
  readonly localKeys = false;
  readonly prefix: string;
  readonly #limit: WindowLimit;
  readonly #memory: WindowLog;
  readonly #redis: RedisWindowLog | undefined;
  readonly #logger: Logger;
  /** express-rate-limit tells a store the key and not the request: its hit is found by the context it runs in. */
  readonly #counted = new AsyncLocalStorage<Counted>();
  #degraded: boolean;
  #reason = 'connecting';

  constructor({ limit, windowMs, redisUrl = '', prefix, logger }: WindowStoreOptions) {
    this.prefix = prefix;
    this.#limit = { limit, windowMs };
    this.#logger = logger;
    this.#memory = new WindowLog(this.#limit);
    this.#degraded = redisUrl !== '';
    if (redisUrl === '') return;
    this.#redis = new RedisWindowLog({
      ...this.#limit,
      url: redisUrl,
      prefix,
      onError: (error) => this.#degrade(error),
      onReady: () => this.#recover(),
    });
  }

  status(): WindowStoreStatus {
    if (this.#redis === undefined) return { status: 'ok', store: 'memory' };
    // A lost connection counts at once, not only when the first attempt to reconnect fails.
    const away = this.#degraded || !this.#redis.isReady;
    return away
      ? { status: 'degraded', store: 'memory', reason: `Redis: ${this.#reason}` }
      : { status: 'ok', store: 'redis' };
  }

  async increment(key: string): Promise<IncrementResponse> {
    const hit = await this.#hit(key);
    const { accepted, hits, resetMs } = hit;
    const counted = this.#counted.getStore();
    if (accepted && counted !== undefined) counted.hit = hit;
    return {
      // express-rate-limit refuses above the limit.
      totalHits: accepted ? hits : this.#limit.limit + 1,
      resetTime: new Date(Date.now() + resetMs),
    };
  }

  /**
   * Runs what increments for one request.
   * @returns a function that takes that hit back; it does nothing when none was accepted, or the second time
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

  /** A key alone does not tell which of its hits to take back; {@link forRequest} does. */
  decrement(): void {
    return;
  }

  async resetKey(key: string): Promise<void> {
    this.#memory.forget(key);
    if (this.#redis?.isReady) await this.#redis.forget(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#redis?.[Symbol.asyncDispose]();
  }

  async #hit(key: string): Promise<CountedHit> {
    const nowMs = performance.now();
    const redis = this.#redis;
    if (!redis?.isReady) return this.#hitInMemory(key, nowMs);
    // The hits of this process alone may already be enough.
    const own = this.#memory.peek(key, nowMs);
    if (!own.accepted) return { ...own, giveBack: () => Promise.resolve() };
    try {
      const hit = await redis.hit(key);
      if (hit.accepted) this.#memory.record(key, nowMs);
      this.#recover();
      return {
        ...hit,
        giveBack: async () => {
          this.#memory.giveBack(key, nowMs);
          try {
            await redis.giveBack(key, hit.atMicroseconds);
          } catch (error) {
            this.#degrade(error);
          }
        },
      };
    } catch (error) {
      this.#degrade(error);
      redis.reconnect();
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

  #degrade(error: unknown): void {
    if (!this.#degraded) this.#logger.warn({ err: error }, 'rate limit: Redis is away, counting in memory');
    this.#degraded = true;
    this.#reason = reasonOf(error);
  }

  #recover(): void {
    if (this.#degraded) this.#logger.info('rate limit: counting in Redis');
    this.#degraded = false;
    this.#reason = 'the connection was lost';
  }
}

/** `ECONNREFUSED` of the network, `WRONGPASS` of Redis, else the kind of error. */
function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return code;
  const { name, message } = errorSchema.parse(error);
  return /^[A-Z]{4,}\b/.exec(message)?.[0] ?? name;
}

/** By form and not by `instanceof`: a test may run in another realm than its libraries. */
const errorSchema = z.object({ name: z.string(), message: z.string() }).catch({ name: 'Error', message: '' });
