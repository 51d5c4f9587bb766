import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@media-services/http-common';
import fc from 'fast-check';
import { WindowLog } from '../src/index.js';
import { RedisWindowLog } from '../src/redis-window-log.js';
import { startRedis, type RedisServer } from './support/redis-server.js';

/**
 * Reference implementation of a sliding-window limit. Keeps all accepted hits that were not
 * refunded, and accepts a hit if fewer than its limit of them are younger than the window.
 */
class Oracle {
  readonly #accepted = new Map<string, number[]>();
  readonly #window: number;

  constructor(window: number) {
    this.#window = window;
  }

  hit(key: string, limit: number, now: number): { accepted: boolean; hits: number; reset: number } {
    const times = this.#accepted.get(key) ?? [];
    this.#accepted.set(key, times);
    const recent = times.filter((time) => now - time < this.#window);
    const accepted = recent.length < limit;
    if (accepted) times.push(now);
    const counted = accepted ? [...recent, now] : recent;
    const leaves = counted.sort((a, b) => a - b)[accepted ? 0 : counted.length - limit] ?? now;
    return { accepted, hits: counted.length, reset: leaves + this.#window - now };
  }

  refund(key: string, time: number): void {
    const times = this.#accepted.get(key) ?? [];
    times.splice(times.indexOf(time), 1);
  }

  /** The most accepted hits of any key in any window. */
  busiestWindow(): number {
    let most = 0;
    for (const times of this.#accepted.values()) {
      for (const start of times) {
        most = Math.max(most, times.filter((time) => time >= start && time < start + this.#window).length);
      }
    }
    return most;
  }
}

const keys = fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::/64');
const logger = createLogger({ service: 'test', level: 'silent' });
const five = { limit: 5, windowMs: 60_000 };
const limits = fc.integer({ min: 1, max: 7 });

describe('in memory', () => {
  test('agrees with the oracle for any order of hits, even if the limit of a key changes', () => {
    const hits = fc.array(
      fc.record({ key: keys, after: fc.integer({ min: 0, max: 40 }), limit: fc.option(limits) }),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 200 }), hits, (usual, windowMs, sequence) => {
        const log = new WindowLog(windowMs);
        const oracle = new Oracle(windowMs);
        let now = 1000;
        for (const { key, after, limit: changed } of sequence) {
          now += after;
          const limit = changed ?? usual;
          const expected = oracle.hit(key, limit, now);
          expect(log.hit(key, limit, now)).toEqual({
            accepted: expected.accepted,
            hits: expected.hits,
            resetMs: expected.reset,
          });
        }
        const highest = Math.max(usual, ...sequence.map(({ limit }) => limit ?? usual));
        expect(oracle.busiestWindow()).toBeLessThanOrEqual(highest);
      }),
    );
  });

  test('agrees with the oracle when newest or older hits are refunded', () => {
    const steps = fc.array(
      fc.record({
        key: keys,
        after: fc.integer({ min: 0, max: 30 }),
        /** Index of the accepted hit to refund, if any. */
        refund: fc.option(fc.nat({ max: 5 })),
      }),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 100 }), steps, (limit, windowMs, sequence) => {
        const log = new WindowLog(windowMs);
        const oracle = new Oracle(windowMs);
        const accepted: { key: string; now: number }[] = [];
        let now = 1000;
        for (const { key, after, refund } of sequence) {
          now += after;
          const expected = oracle.hit(key, limit, now);
          expect(log.hit(key, limit, now).accepted).toBe(expected.accepted);
          if (expected.accepted) accepted.unshift({ key, now });
          const [taken] = refund === null ? [] : accepted.splice(refund, 1);
          if (taken === undefined) continue;
          log.refund(taken.key, taken.now);
          oracle.refund(taken.key, taken.now);
        }
        expect(oracle.busiestWindow()).toBeLessThanOrEqual(limit);
      }),
    );
  });

  test('never accepts more than five, even across the boundary of a fixed window', () => {
    const log = new WindowLog(60_000);
    const at = (...times: number[]) => times.filter((time) => log.hit('client', 5, time).accepted).length;
    expect(at(0)).toBe(1);
    expect(at(59_000, 59_100, 59_200, 59_300)).toBe(4);
    expect(at(59_999)).toBe(0);
    expect(at(60_000, 60_001, 60_002)).toBe(1);
  });

  test('reports to the millisecond when the next hit is possible', () => {
    const log = new WindowLog(60_000);
    log.hit('client', 1, 500);
    const rejected = log.hit('client', 1, 20_500);
    expect(rejected).toEqual({ accepted: false, hits: 1, resetMs: 40_000 });
    expect(log.hit('client', 1, 20_500 + rejected.resetMs - 1).accepted).toBe(false);
    expect(log.hit('client', 1, 20_500 + rejected.resetMs).accepted).toBe(true);
  });

  test('rejected hits do not delay a client', () => {
    const log = new WindowLog(100);
    log.hit('client', 2, 0);
    log.hit('client', 2, 0);
    for (let time = 1; time < 100; time++) expect(log.hit('client', 2, time).accepted).toBe(false);
    expect(log.hit('client', 2, 100).accepted).toBe(true);
  });

  test('keeps a bounded number of keys, and drops those without hits in the window', () => {
    const log = new WindowLog(1000, 50);
    for (let i = 0; i < 500; i++) log.hit(`client ${i}`, 3, 10);
    expect(log.size).toBe(50);
    expect(log.peek('client 499', 3, 10).hits).toBe(2);
    log.hit('later', 3, 5000);
    expect(log.size).toBe(1);
  });

  test('peeking does not count', () => {
    const log = new WindowLog(100);
    expect(log.peek('client', 1, 0).accepted).toBe(true);
    expect(log.peek('client', 1, 0).accepted).toBe(true);
    expect(log.hit('client', 1, 0).accepted).toBe(true);
    expect(log.peek('client', 1, 0).accepted).toBe(false);
  });
});

describe('in Redis', () => {
  let server: RedisServer;
  const logs: RedisWindowLog[] = [];
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    for (const log of logs) await log[Symbol.asyncDispose]();
    await server.kill();
  });

  async function open(prefix: string): Promise<RedisWindowLog> {
    const log = new RedisWindowLog({ url: server.url, prefix, logger, commandTimeoutMs: 60_000 });
    logs.push(log);
    while (!log.isReady) await delay(1);
    return log;
  }

  test("agrees with the oracle on the server's clock", async () => {
    const hits = fc.array(
      fc.record({ key: keys, afterMs: fc.integer({ min: 0, max: 12 }), limit: fc.option(limits) }),
      { maxLength: 30 },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(limits, fc.integer({ min: 5, max: 60 }), hits, async (usual, windowMs, sequence) => {
        const log = await open(`run ${run++}:`);
        const oracle = new Oracle(windowMs * 1000);
        for (const { key, afterMs, limit: changed } of sequence) {
          const limit = changed ?? usual;
          if (afterMs > 0) await delay(afterMs);
          const { atMicroseconds, ...hit } = await log.hit(key, { limit, windowMs });
          const { accepted, hits: counted, reset } = oracle.hit(key, limit, atMicroseconds);
          expect(hit).toEqual({ accepted, hits: counted, resetMs: reset / 1000 });
        }
        const highest = Math.max(usual, ...sequence.map(({ limit }) => limit ?? usual));
        expect(oracle.busiestWindow()).toBeLessThanOrEqual(highest);
      }),
      { numRuns: 20 },
    );
  });

  test('agrees with the oracle when hits are refunded', async () => {
    const steps = fc.array(fc.record({ key: keys, refund: fc.option(fc.nat({ max: 3 })) }), {
      maxLength: 40,
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, sequence) => {
        const log = await open(`give back ${run++}:`);
        const oracle = new Oracle(60_000_000);
        const accepted: { key: string; at: number }[] = [];
        for (const { key, refund } of sequence) {
          const hit = await log.hit(key, { limit, windowMs: 60_000 });
          expect(hit.accepted).toBe(oracle.hit(key, limit, hit.atMicroseconds).accepted);
          if (hit.accepted) accepted.unshift({ key, at: hit.atMicroseconds });
          const [taken] = refund === null ? [] : accepted.splice(refund, 1);
          if (taken === undefined) continue;
          await log.refund(taken.key, taken.at);
          oracle.refund(taken.key, taken.at);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('simultaneous hits over several connections never exceed the limit', async () => {
    const replicas = await Promise.all([1, 2, 3].map(() => open('shared:')));
    const hits = await Promise.all(
      replicas.flatMap((log) => Array.from({ length: 20 }, () => log.hit('client', five))),
    );
    expect(hits.filter(({ accepted }) => accepted)).toHaveLength(5);
  });

  test('keeps a client no longer than the window', async () => {
    const log = await open('quiet:');
    await log.hit('client', five);
    const { Redis } = await import('ioredis');
    const redis = new Redis(server.url);
    const lifetime = await redis.pttl('quiet:client');
    redis.disconnect();
    expect(lifetime).toBeGreaterThan(0);
    expect(lifetime).toBeLessThanOrEqual(60_000);
  });
});
