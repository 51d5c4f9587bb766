import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startService, type TestService } from '../support/service.js';

/** A real Redis on a free port, stopped with its scope. */
async function startRedis(): Promise<AsyncDisposable & { readonly url: string }> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
  for await (const text of child.stdout) if (String(text).includes('Ready to accept')) break;
  return {
    url: `redis://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

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
