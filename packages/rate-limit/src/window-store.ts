import type { Logger } from '@media-services/http-common';
import type { IncrementResponse, Store } from 'express-rate-limit';
import { RedisWindowLog } from './redis-window-log.js';
import { WindowLog, type Hit, type WindowLimit } from './window-log.js';

export interface WindowStoreOptions extends WindowLimit {
  /** Absent or empty: each process counts for itself. */
  readonly redisUrl?: string;
  readonly prefix: string;
  readonly logger: Logger;
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
    const { accepted, hits, resetMs } = await this.#hit(key);
    return {
      // express-rate-limit refuses above the limit.
      totalHits: accepted ? hits : this.#limit.limit + 1,
      resetTime: new Date(Date.now() + resetMs),
    };
  }

  /** Hits are never taken back: the limit is on what was begun. */
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

  async #hit(key: string): Promise<Hit> {
    const nowMs = performance.now();
    if (this.#redis === undefined || !this.#redis.isReady) return this.#memory.hit(key, nowMs);
    // The hits of this process alone may already be enough.
    const own = this.#memory.peek(key, nowMs);
    if (!own.accepted) return own;
    try {
      const hit = await this.#redis.hit(key);
      if (hit.accepted) this.#memory.record(key, nowMs);
      this.#recover();
      return hit;
    } catch (error) {
      this.#degrade(error instanceof Error ? error : new Error(String(error)));
      this.#redis.reconnect();
      return this.#memory.hit(key, performance.now());
    }
  }

  #degrade(error: Error): void {
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
function reasonOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{4,}\b/.exec(error.message)?.[0] ?? error.name;
}
