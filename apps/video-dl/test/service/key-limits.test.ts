import { startRedis } from '../../../../packages/rate-limit/test/support/redis-server.js';
import { startService, type TestService } from '../support/service.js';

it("counts a key's requests across replicas", async () => {
  await using redis = await startRedis();
  const env = { REDIS_URL: redis.url, TRUST_PROXY_HOPS: '1' };
  await using first = await startService(env, { cold: true });
  await using second = await startService(env, { cold: true });
  const ask = (replica: TestService, name: string) =>
    replica.get(
      '/api/info',
      { url: 'no-url' },
      { headers: { 'X-Client-Name': name, 'X-Client-Limit': '5' } },
    );
  // Each replica counts separately until it is connected.
  for (let attempt = 0; ; attempt += 1) {
    await ask(first, `early-${attempt}`);
    const { headers } = await ask(second, `early-${attempt}`);
    if (headers.get('ratelimit')?.includes('r=3')) break;
  }

  const statuses: number[] = [];
  for (let count = 0; count < 8; count += 1) {
    statuses.push((await ask(count % 2 === 0 ? first : second, 'bob')).status);
  }

  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429]);
});
