import { createLogger } from '@media-services/http-common';
import { WindowStore, type WindowLogStatus } from '../src/index.js';
import { RedisWindowLog } from '../src/redis-window-log.js';
import { setTimeout as delay } from 'node:timers/promises';
import { startRedis, type RedisServer } from './support/redis-server.js';

const logger = createLogger({ service: 'test', level: 'silent' });
const limit = { limit: 3, windowMs: 60_000 };

let server: RedisServer | undefined;
const shared = new Map<WindowStore, RedisWindowLog>();
afterEach(async () => {
  // Kill Redis first: disposing a log waits for a response, even from a paused Redis.
  await server?.kill();
  server = undefined;
  for (const log of shared.values()) await log[Symbol.asyncDispose]();
  shared.clear();
});

function open(redisUrl?: string, commandTimeoutMs = 60_000): WindowStore {
  if (redisUrl === undefined) return new WindowStore(limit);
  const log = new RedisWindowLog({ url: redisUrl, prefix: 'test:', logger, commandTimeoutMs });
  const store = new WindowStore(limit, log);
  shared.set(store, log);
  return store;
}

function statusOf(store: WindowStore): WindowLogStatus | undefined {
  return shared.get(store)?.status();
}

async function until(store: WindowStore, status: WindowLogStatus): Promise<void> {
  const reached = (): boolean => {
    const now = statusOf(store);
    const sameReason = status.reason === undefined || now?.reason === status.reason;
    return now?.status === status.status && now.store === status.store && sameReason;
  };
  while (!reached()) await delay(20);
}

const redisOk: WindowLogStatus = { status: 'ok', store: 'redis' };
const degraded = {
  status: 'degraded',
  store: 'memory',
  reason: expect.stringMatching(/^Redis: \w/) as string,
} satisfies WindowLogStatus;

/** Counts the accepted hits out of `count`. */
async function accepted(store: WindowStore, count: number, key = 'client'): Promise<number> {
  let sum = 0;
  for (let i = 0; i < count; i++) if ((await store.increment(key)).totalHits <= limit.limit) sum++;
  return sum;
}

test('counts in memory without Redis', async () => {
  expect(await accepted(open(), 10)).toBe(3);
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

test('a rejected hit counts as more than the limit and says when to retry', async () => {
  const store = open();
  const startedAt = Date.now();
  await accepted(store, 3);
  const acceptedAt = Date.now();
  const { totalHits, resetTime } = await store.increment('client');
  expect(totalHits).toBe(4);
  expect(resetTime?.getTime()).toBeGreaterThanOrEqual(startedAt + 59_999);
  expect(resetTime?.getTime()).toBeLessThanOrEqual(acceptedAt + 60_001);
});

test('counts in memory and is degraded while Redis was never reachable', async () => {
  const store = open('redis://127.0.0.1:1');
  expect(await accepted(store, 10)).toBe(3);
  await until(store, { ...degraded, reason: 'Redis: ECONNREFUSED' });
});

test('keeps counting in memory when Redis stops, and counts in Redis when it is back', async () => {
  server = await startRedis();
  const store = open(server.url);
  await until(store, redisOk);
  expect(await accepted(store, 2)).toBe(2);
  await server.kill();
  expect(await accepted(store, 3)).toBe(1);
  expect(await accepted(store, 5, 'another')).toBe(3);
  expect(statusOf(store)).toEqual(degraded);
  await server.restart();
  await until(store, redisOk);
  // The new server is empty, but this process remembers.
  expect(await accepted(store, 3)).toBe(0);
  expect(await accepted(store, 5, 'third')).toBe(3);
});

test('a Redis that stops responding does not block requests', async () => {
  server = await startRedis();
  const store = open(server.url, 500);
  await until(store, redisOk);
  server.pause();
  expect(await accepted(store, 1)).toBe(1);
  expect(statusOf(store)).toEqual({ ...degraded, reason: 'Redis: no response in time' });
});

/** Makes a request with one hit. Returns whether it was accepted, and a function that refunds it. */
async function request(store: WindowStore): Promise<{ accepted: boolean; refund: () => Promise<boolean> }> {
  let hit: Promise<{ totalHits: number }> | undefined;
  const refund = store.forRequest(() => {
    hit = store.increment('client');
  });
  return { accepted: ((await hit)?.totalHits ?? 0) <= limit.limit, refund };
}

describe.each(['memory', 'redis'])('a refunded request (%s)', (kind) => {
  test('makes room for another, once', async () => {
    server = kind === 'redis' ? await startRedis() : undefined;
    const store = open(server?.url);
    if (server !== undefined) await until(store, redisOk);
    const { refund } = await request(store);
    expect(await accepted(store, 5)).toBe(2);
    expect(await refund()).toBe(true);
    expect(await refund()).toBe(false);
    expect(await accepted(store, 5)).toBe(1);
  });

  test('refunds nothing if it was rejected', async () => {
    server = kind === 'redis' ? await startRedis() : undefined;
    const store = open(server?.url);
    if (server !== undefined) await until(store, redisOk);
    await accepted(store, 3);
    const rejected = await request(store);
    expect(rejected.accepted).toBe(false);
    expect(await rejected.refund()).toBe(false);
    expect(await accepted(store, 2)).toBe(0);
  });
});

test('refunds a hit in memory while Redis is unavailable', async () => {
  server = await startRedis();
  const store = open(server.url);
  await until(store, redisOk);
  const { refund } = await request(store);
  await accepted(store, 2);
  await server.kill();
  expect(await refund()).toBe(true);
  expect(statusOf(store)).toEqual(degraded);
  expect(await accepted(store, 3)).toBe(1);
});

test('resetKey forgets a client', async () => {
  const store = open();
  await accepted(store, 3);
  await store.resetKey('client');
  expect(await accepted(store, 1)).toBe(1);
});
