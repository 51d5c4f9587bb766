import { errorCode, type Logger } from '@media-services/http-common';
import { Redis } from 'ioredis';
import { z } from 'zod';
import type { StoredHit, WindowLimit, WindowLogStatus, WindowLogStore } from './window-log.js';

/**
 * Updates the sliding-window log in one atomic step on the server's clock, so replicas with
 * different clocks share one exact limit. The list holds times in microseconds, newest first.
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
-- With a lowered limit, several hits must leave before there is room.
local leaves = oldest
if hits < tonumber(ARGV[1]) then
  accepted = 1
  hits = hits + 1
  redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  leaves = redis.call('LINDEX', KEYS[1], ARGV[1] - 1)
end
local reset = (leaves and tonumber(leaves) or now) + window - now
return { accepted, hits, reset, now }
`;

const replySchema = z.tuple([z.int(), z.int(), z.int(), z.int()]);

export interface RedisWindowLogOptions {
  readonly url: string;
  /** Prefix of every key. */
  readonly prefix: string;
  readonly logger: Logger;
  /** Maximum time a request waits for an unresponsive server. */
  readonly commandTimeoutMs?: number;
}

/** The sliding-window log in Redis, or in a server with the same protocol, over one connection. */
export class RedisWindowLog implements WindowLogStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #logger: Logger;
  #degraded = true;
  #reason = 'connecting';

  constructor({ url, prefix, logger, commandTimeoutMs = 500 }: RedisWindowLogOptions) {
    this.#prefix = prefix;
    this.#logger = logger;
    this.#redis = new Redis(url, {
      commandTimeout: commandTimeoutMs,
      connectTimeout: 2000,
      // Don't wait for a lost connection: the caller has a fallback.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 6), 5000),
    });
    this.#redis.on('error', (error) => this.#degrade(error));
    this.#redis.on('ready', () => this.#recover());
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready';
  }

  status(): WindowLogStatus {
    // A lost connection counts at once, not only when the first attempt to reconnect fails.
    const away = this.#degraded || !this.isReady;
    return away
      ? { status: 'degraded', store: 'memory', reason: `Redis: ${this.#reason}` }
      : { status: 'ok', store: 'redis' };
  }

  async hit(key: string, { limit, windowMs }: WindowLimit): Promise<StoredHit> {
    try {
      const reply: unknown = await this.#redis.eval(hitScript, 1, this.#prefix + key, limit, windowMs);
      const [accepted, hits, resetMicroseconds, atMicroseconds] = replySchema.parse(reply);
      this.#recover();
      return { accepted: accepted === 1, hits, resetMs: resetMicroseconds / 1000, atMicroseconds };
    } catch (error) {
      this.#degrade(error);
      // Drops a connection that no longer delivers responses; a new one is opened with back-off.
      if (this.isReady) this.#redis.disconnect(true);
      throw error;
    }
  }

  async refund(key: string, atMicroseconds: number): Promise<void> {
    try {
      await this.#redis.lrem(this.#prefix + key, 1, String(atMicroseconds));
    } catch (error) {
      this.#degrade(error);
    }
  }

  async forget(key: string): Promise<void> {
    await this.#redis.del(this.#prefix + key);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#redis.disconnect();
    return Promise.resolve();
  }

  #degrade(error: unknown): void {
    if (!this.#degraded)
      this.#logger.warn({ err: error }, 'rate limit: Redis is unavailable, counting in memory');
    this.#degraded = true;
    this.#reason = reasonOf(error);
  }

  #recover(): void {
    if (this.#degraded) this.#logger.info('rate limit: counting in Redis');
    this.#degraded = false;
    this.#reason = 'the connection was lost';
  }
}

/** `ECONNREFUSED` from the network, `WRONGPASS` from Redis, a timeout, otherwise the error's name. */
function reasonOf(error: unknown): string {
  const code = errorCode(error);
  if (code !== undefined) return code;
  const { name, message } = errorSchema.parse(error);
  if (message === 'Command timed out') return 'no response in time';
  return /^[A-Z]{4,}\b/.exec(message)?.[0] ?? name;
}

/** Checked by shape, not by `instanceof`: a test may run in another realm than its libraries. */
const errorSchema = z.object({ name: z.string(), message: z.string() }).catch({ name: 'Error', message: '' });
