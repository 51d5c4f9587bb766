import { createHttpApp, createLogger, createMetrics, sharedErrors } from '@media-services/http-common';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRateLimiter } from '../dist/index.js';

/** A service with one limited path, behind so many proxies. */
async function startService(limit: number, trustProxyHops: number) {
  const logger = createLogger({ service: 'test', level: 'silent' });
  const limiter = createRateLimiter({
    ...{ name: 'test', limit, windowMs: 60_000, prefix: 'test:', logger },
    refusal: (seconds, of) => `more than ${of}, wait ${seconds} s`,
  });
  const app = createHttpApp({
    ...{ logger, metrics: createMetrics({ service: 'test' }), trustProxyHops },
    ...{ errors: sharedErrors, docsBaseUrl: '' },
    routes: (router) => router.get('/', limiter.middleware, (_req, res) => void res.send('ok')),
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    ask: async (count: number, headers: Record<string, string> = {}) => {
      const statuses: number[] = [];
      for (let index = 0; index < count; index += 1) statuses.push((await fetch(url, { headers })).status);
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

const key = (name: string, limit?: number): Record<string, string> => ({
  'X-Client-Name': name,
  ...(limit === undefined ? {} : { 'X-Client-Limit': String(limit) }),
});

test('a client with a key is counted by its name, with its own limit where it has one', async () => {
  await using service = await startService(2, 1);

  expect(await service.ask(3)).toEqual([200, 200, 429]);
  expect(await service.ask(3, key('alice'))).toEqual([200, 200, 429]);
  expect(await service.ask(5, { ...key('bob', 4), 'X-Forwarded-For': '203.0.113.1' })).toEqual([
    200, 200, 200, 200, 429,
  ]);
  expect(await service.ask(1, { ...key('bob', 4), 'X-Forwarded-For': '203.0.113.2' })).toEqual([429]);
  expect(new Set(await service.ask(20, key('carol', 0)))).toEqual(new Set([200]));
});

test('where nobody else has a limit, a key may have one', async () => {
  await using service = await startService(0, 1);
  expect(new Set(await service.ask(10))).toEqual(new Set([200]));
  expect(await service.ask(2, key('alice', 1))).toEqual([200, 429]);
});

test.each([
  ['without a gateway in front', 0, key('alice', 0)],
  ['that is none', 1, key('al ice', 0)],
  ['that is empty', 1, { 'X-Client-Name': '', 'X-Client-Limit': '0' }],
])('a name %s changes nothing', async (_name, hops, headers) => {
  await using service = await startService(2, hops);
  expect(await service.ask(3, headers)).toEqual([200, 200, 429]);
});
