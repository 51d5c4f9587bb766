import { createLogger } from '@media-services/http-common';
import { WindowStore, type WindowStoreStatus } from '../dist/index.js';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedis, type RedisServer } from './support/redis-server.js';

const logger = createLogger({ service: 'test', level: 'silent' });
const limit = { limit: 3, windowMs: 60_000 };

let server: RedisServer | undefined;
const stores: WindowStore[] = [];
afterEach(async () => {
  // First: a store waits for the answer of a Redis that it leaves, a paused one's too.
  await server?.kill();
  server = undefined;
  for (const store of stores.splice(0)) await store[Symbol.asyncDispose]();
});

function open(redisUrl?: string): WindowStore {
  const store = new WindowStore({
    ...limit,
    prefix: 'test:',
    logger,
    ...(redisUrl === undefined ? {} : { redisUrl }),
  });
  stores.push(store);
  return store;
}

async function until(store: WindowStore, status: WindowStoreStatus): Promise<void> {
  const end = performance.now() + 15_000;
  const reached = (): boolean => {
    const { status: now, store: where, reason } = store.status();
    return now === status.status && where === status.store && (status.reason ?? reason) === reason;
  };
  while (!reached()) {
    if (performance.now() > end) throw new Error(`The store stayed ${JSON.stringify(store.status())}.`);
    await delay(20);
  }
}

const redisOk: WindowStoreStatus = { status: 'ok', store: 'redis' };
const degraded = {
  status: 'degraded',
  store: 'memory',
  reason: expect.stringMatching(/^Redis: \w/) as string,
} satisfies WindowStoreStatus;

/** How many of `count` hits are accepted. */
async function accepted(store: WindowStore, count: number, key = 'client'): Promise<number> {
  let sum = 0;
  for (let i = 0; i < count; i++) if ((await store.increment(key)).totalHits <= limit.limit) sum++;
  return sum;
}

test('without Redis it counts in memory and is well', async () => {
  const store = open();
  expect(store.status()).toEqual({ status: 'ok', store: 'memory' });
  expect(await accepted(store, 10)).toBe(3);
});

test('replicas share one limit through Redis', async () => {
  server = await startRedis();
  const [a, b] = [open(server.url), open(server.url)];
  await until(a, redisOk);
  await until(b, redisOk);
  expect(await accepted(a, 2)).toBe(2);
  expect(await accepted(b, 2)).toBe(1);
  expect(await accepted(a, 2)).toBe(0);
});

test('a refused hit counts as more than the limit and says when to come back', async () => {
  const store = open();
  const startedAt = Date.now();
  await accepted(store, 3);
  const acceptedAt = Date.now();
  const { totalHits, resetTime } = await store.increment('client');
  expect(totalHits).toBe(4);
  expect(resetTime?.getTime()).toBeGreaterThanOrEqual(startedAt + 59_999);
  expect(resetTime?.getTime()).toBeLessThanOrEqual(acceptedAt + 60_001);
});

test('a Redis that was never there: counting in memory, degraded', async () => {
  const store = open('redis://127.0.0.1:1');
  expect(await accepted(store, 10)).toBe(3);
  await until(store, { ...degraded, reason: 'Redis: ECONNREFUSED' });
});

test('when Redis goes, a client that has used its limit up is still out, others are still let in; and back', async () => {
  server = await startRedis();
  const store = open(server.url);
  await until(store, redisOk);
  expect(await accepted(store, 2)).toBe(2);
  await server.kill();
  expect(await accepted(store, 3)).toBe(1);
  expect(await accepted(store, 5, 'another')).toBe(3);
  expect(store.status()).toEqual(degraded);
  await server.restart();
  await until(store, redisOk);
  // The new server knows of nothing, this process does.
  expect(await accepted(store, 3)).toBe(0);
  expect(await accepted(store, 5, 'third')).toBe(3);
});

test('a Redis that never answers holds no request up', async () => {
  server = await startRedis();
  const store = open(server.url);
  await until(store, redisOk);
  server.pause();
  expect(await accepted(store, 1)).toBe(1);
  expect(store.status()).toEqual(degraded);
});

/** A request of one hit: whether it was accepted, and the way to take it back. */
async function request(store: WindowStore): Promise<{ accepted: boolean; giveBack: () => Promise<boolean> }> {
  let hit: Promise<{ totalHits: number }> | undefined;
  const giveBack = store.forRequest(() => {
    hit = store.increment('client');
  });
  return { accepted: ((await hit)?.totalHits ?? 0) <= limit.limit, giveBack };
}

describe.each(['memory', 'redis'])('a request that is given back (%s)', (kind) => {
  test('leaves room for another, once', async () => {
    server = kind === 'redis' ? await startRedis() : undefined;
    const store = open(server?.url);
    if (server !== undefined) await until(store, redisOk);
    const { giveBack } = await request(store);
    expect(await accepted(store, 5)).toBe(2);
    expect(await giveBack()).toBe(true);
    expect(await giveBack()).toBe(false);
    expect(await accepted(store, 5)).toBe(1);
  });

  test('gives nothing when it had been refused', async () => {
    server = kind === 'redis' ? await startRedis() : undefined;
    const store = open(server?.url);
    if (server !== undefined) await until(store, redisOk);
    await accepted(store, 3);
    const refused = await request(store);
    expect(refused.accepted).toBe(false);
    expect(await refused.giveBack()).toBe(false);
    expect(await accepted(store, 2)).toBe(0);
  });
});

test('what is given back while Redis is away is given back in this process', async () => {
  server = await startRedis();
  const store = open(server.url);
  await until(store, redisOk);
  const { giveBack } = await request(store);
  await accepted(store, 2);
  await server.kill();
  expect(await giveBack()).toBe(true);
  expect(store.status()).toEqual(degraded);
  expect(await accepted(store, 3)).toBe(1);
});

test('resetKey forgets a client', async () => {
  const store = open();
  await accepted(store, 3);
  await store.resetKey('client');
  expect(await accepted(store, 1)).toBe(1);
});
