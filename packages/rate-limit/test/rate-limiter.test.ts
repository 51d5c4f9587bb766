import {
  createHttpApp,
  createLogger,
  createMetrics,
  DomainError,
  sharedErrors,
} from '@media-services/http-common';
import type { Request } from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createRateLimiter } from '../src/index.js';
import { startRedis } from './support/redis-server.js';

/**
 * A service with one limited path behind `trustProxyHops` proxies. `/gives-back` and `/keeps`
 * always fail.
 */
async function startService(limit: number, trustProxyHops: number, redisUrl = '') {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const limiter = await createRateLimiter({
    name: 'test',
    limit,
    windowMs: 60_000,
    prefix: 'test:',
    redisUrl,
    logger,
    rejectionDetail: (seconds, of) => `more than ${of}, wait ${seconds} s`,
  });
  const app = createHttpApp({
    logger,
    metrics: createMetrics({ service: 'test' }),
    trustProxyHops,
    errors: sharedErrors,
    docsBaseUrl: '',
    routes: (router) => {
      const isRefundable = (thrown: unknown) =>
        thrown instanceof DomainError && thrown.message === '/gives-back';
      const fails = (req: Request) => {
        throw new DomainError('invalid_request', req.path);
      };
      router.get('/', limiter.middleware, (_req, res) => void res.send('ok'));
      router.get(
        '/unlimited',
        fails,
        limiter.refundIf(() => true),
      );
      for (const path of ['/gives-back', '/keeps'])
        router.get(path, limiter.middleware, fails, limiter.refundIf(isRefundable));
    },
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });
  return {
    get,
    status: () => limiter.status(),
    ask: async (count: number, headers: Record<string, string> = {}) => {
      const statuses: number[] = [];
      for (let index = 0; index < count; index += 1) statuses.push((await get('/', headers)).status);
      return statuses;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await limiter[Symbol.asyncDispose]();
    },
  };
}

const forwarded = (address: string) => ({ 'X-Forwarded-For': address });
const left = (answer: Response) => /\br=(\d+)/.exec(answer.headers.get('RateLimit') ?? '')?.[1];

const key = (name: string, limit?: number): Record<string, string> => ({
  'X-Client-Name': name,
  ...(limit === undefined ? {} : { 'X-Client-Limit': String(limit) }),
});

test('a client with a key is counted by its name, with its own limit if it has one', async () => {
  await using service = await startService(2, 1);

  expect(await service.ask(3)).toEqual([200, 200, 429]);
  expect(await service.ask(3, key('alice'))).toEqual([200, 200, 429]);
  expect(await service.ask(5, { ...key('bob', 4), 'X-Forwarded-For': '203.0.113.1' })).toEqual([
    200, 200, 200, 200, 429,
  ]);
  expect(await service.ask(1, { ...key('bob', 4), 'X-Forwarded-For': '203.0.113.2' })).toEqual([429]);
  expect(new Set(await service.ask(20, key('carol', 0)))).toEqual(new Set([200]));
});

test('a key whose limit changes keeps what it has used', async () => {
  await using service = await startService(5, 1);
  expect(await service.ask(3, key('alice', 2))).toEqual([200, 200, 429]);
  expect(await service.ask(2, key('alice', 3))).toEqual([200, 429]);
  expect(await service.ask(1, key('alice', 1))).toEqual([429]);
  expect(await service.ask(3, key('alice'))).toEqual([200, 200, 429]);
});

test('a key may have a limit when others have none', async () => {
  await using service = await startService(0, 1);
  expect(new Set(await service.ask(10))).toEqual(new Set([200]));
  expect(await service.ask(2, key('alice', 1))).toEqual([200, 429]);
});

test.each([
  ['without a gateway in front', 0, key('alice', 0)],
  ['that is invalid', 1, key('al ice', 0)],
  ['that is empty', 1, { 'X-Client-Name': '', 'X-Client-Limit': '0' }],
])('a name %s changes nothing', async (_name, hops, headers) => {
  await using service = await startService(2, hops);
  expect(await service.ask(3, headers)).toEqual([200, 200, 429]);
});

test('each forwarded IP address is counted separately, IPv6 by its /64', async () => {
  await using service = await startService(2, 1);

  expect(await service.ask(3, forwarded('203.0.113.1'))).toEqual([200, 200, 429]);
  expect(await service.ask(1, forwarded('203.0.113.2'))).toEqual([200]);
  expect(await service.ask(1, forwarded('2001:db8:0:1::1'))).toEqual([200]);
  expect(await service.ask(1, forwarded('2001:db8:0:1:ffff::2'))).toEqual([200]);
  expect(await service.ask(1, forwarded('2001:db8:0:1:1:2:3:4'))).toEqual([429]);
  expect(await service.ask(1, forwarded('2001:db8:0:2::1'))).toEqual([200]);
});

test('a key named like an IP address is counted separately from it', async () => {
  await using service = await startService(1, 1);
  expect(await service.ask(2, forwarded('203.0.113.1'))).toEqual([200, 429]);
  expect(await service.ask(1, key('203.0.113.1'))).toEqual([200]);
});

test('responses have the limit and what remains, and a rejection has Retry-After', async () => {
  await using service = await startService(2, 1);

  const first = await service.get('/');
  expect(first.headers.get('RateLimit-Policy')).toMatch(/^"test"; q=2; w=60/);
  expect([first, await service.get('/')].map(left)).toEqual(['1', '0']);
  const rejected = await service.get('/');
  expect(rejected.headers.get('X-RateLimit-Limit')).toBeNull();
  const seconds = Number(rejected.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(await rejected.json()).toMatchObject({
    status: 429,
    code: 'rate_limited',
    detail: `more than 2, wait ${seconds} s`,
  });
});

test('a request with a refundable error is not counted, and its header says so', async () => {
  await using service = await startService(2, 1);

  for (let request = 0; request < 4; request += 1) {
    const answer = await service.get('/gives-back');
    expect([answer.status, left(answer)]).toEqual([400, '2']);
  }
  expect(left(await service.get('/keeps'))).toBe('1');
  expect(left(await service.get('/keeps'))).toBe('0');
  expect((await service.get('/gives-back')).status).toBe(429);
});

test('a refund corrects a two-digit remaining count', async () => {
  await using service = await startService(12, 1);
  await service.ask(1);
  expect(left(await service.get('/gives-back'))).toBe('11');
});

test('two clients whose keys share a limit are counted separately', async () => {
  await using service = await startService(1, 1);
  expect(await service.ask(2, key('alice'))).toEqual([200, 429]);
  expect(await service.ask(2, key('dave'))).toEqual([200, 429]);
});

test('a request that was never counted is not refunded', async () => {
  await using service = await startService(2, 1);
  const answer = await service.get('/unlimited');
  expect([answer.status, answer.headers.get('RateLimit')]).toEqual([400, null]);
});

test('reports a healthy store for a limit of 0', async () => {
  await using service = await startService(0, 1);
  expect(service.status()).toEqual({ status: 'ok', store: 'memory' });
  expect((await service.get('/')).headers.get('RateLimit')).toBeNull();
});

test('all limits share one connection to Redis', async () => {
  const redis = await startRedis();
  const observer = new Redis(redis.url);
  /** Connections from `client list`, one per line, without the observer's own. */
  const connections = async () =>
    String(await observer.client('LIST'))
      .trim()
      .split('\n').length - 1;
  try {
    {
      await using service = await startService(2, 1, redis.url);
      while (service.status().store !== 'redis') await delay(10);
      expect(await service.ask(3)).toEqual([200, 200, 429]);
      for (const limit of [1, 3, 4, 5, 6]) {
        const statuses = await service.ask(limit + 1, key(`client-${limit}`, limit));
        expect(statuses).toEqual([...Array<number>(limit).fill(200), 429]);
      }
      expect(await connections()).toBe(1);
      expect(await observer.llen('test:key:client-6')).toBe(6);
    }
    while ((await connections()) > 0) await delay(10);
  } finally {
    observer.disconnect();
    await redis.kill();
  }
});
