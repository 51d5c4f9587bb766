import { Redis } from 'ioredis';
import { z } from 'zod';
import type { Hit, WindowLimit } from './window-log.js';

/**
 * The sliding-window log as one atomic step on the server's clock, so that
 * replicas with different clocks and simultaneous requests share one exact
 * limit. The list has the newest time first, in microseconds.
 */
const hitScript = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = ARGV[2] * 1000
local oldest = redis.call('LINDEX', KEYS[1], -1)
while oldest and tonumber(oldest) <= now - window do
  redis.call('RPOP', KEYS[1])
  oldest = redis.call('LINDEX', KEYS[1], -1)
end
local hits = redis.call('LLEN', KEYS[1])
local accepted = 0
if hits < tonumber(ARGV[1]) then
  accepted = 1
  hits = hits + 1
  redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
local reset = (oldest and tonumber(oldest) or now) + window - now
return { accepted, hits, reset, now }
`;

const replySchema = z.tuple([z.int(), z.int(), z.int(), z.int()]);

export interface RedisWindowLogOptions extends WindowLimit {
  readonly url: string;
  /** Put before every key. */
  readonly prefix: string;
  readonly onError: (error: Error) => void;
  readonly onReady: () => void;
}

/** A hit with the moment at which the server counted it. */
export interface RedisHit extends Hit {
  readonly atMicroseconds: number;
}

/** How long a server that does not answer may hold a request up. */
const commandTimeoutMs = 500;

/** The sliding-window log in Redis or a server that speaks its protocol; shared by all replicas. */
export class RedisWindowLog implements AsyncDisposable {
  readonly #redis: Redis;
  readonly #options: RedisWindowLogOptions;

  constructor(options: RedisWindowLogOptions) {
    this.#options = options;
    this.#redis = new Redis(options.url, {
      commandTimeout: commandTimeoutMs,
      connectTimeout: 2000,
      // No waiting for a lost connection: the caller has a fallback.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 6), 5000),
    });
    this.#redis.on('error', options.onError);
    this.#redis.on('ready', options.onReady);
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
  }

  /** @throws Error when the server is away or does not answer */
  async hit(key: string): Promise<RedisHit> {
    const { limit, windowMs, prefix } = this.#options;
    const reply: unknown = await this.#redis.eval(hitScript, 1, prefix + key, limit, windowMs);
    const [accepted, hits, resetMicroseconds, atMicroseconds] = replySchema.parse(reply);
    return { accepted: accepted === 1, hits, resetMs: resetMicroseconds / 1000, atMicroseconds };
  }

  /**
   * Takes a hit back, by the time that the server counted it at, as if it had never been.
   * @throws Error when the server is away or does not answer
   */
  async giveBack(key: string, atMicroseconds: number): Promise<void> {
    await this.#redis.lrem(this.#options.prefix + key, 1, String(atMicroseconds));
  }

  async forget(key: string): Promise<void> {
    await this.#redis.del(this.#options.prefix + key);
  }

  /** Drops a connection on which answers do not come any more; a new one is opened with back-off. */
  reconnect(): void {
    if (this.isReady) this.#redis.disconnect(true);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect();
    return Promise.resolve();
  }
}
