import { startGateway, type TestGateway } from './support/gateway.js';

let gateway: TestGateway;

// The test is the trusted proxy in front, so that it can speak for any address.
beforeAll(async () => {
  gateway = await startGateway({
    env: { TRUSTED_PROXIES: '127.0.0.1' },
  });
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});

const from = async (address: string): Promise<number> =>
  (await fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Forwarded-For': address } })).status;

/** Uses up the burst of whoever the address is counted as. */
async function exhaust(address: string): Promise<void> {
  for (let count = 0; count < 11; count += 1) expect(await from(address)).toBe(200);
  expect(await from(address)).toBe(429);
}

test('an IPv4 address is counted by itself', async () => {
  await exhaust('198.51.100.1');
  expect(await from('198.51.100.2')).toBe(200);
});

test.each([
  ['2001:db8:1:1::1', '2001:db8:1:1:ffff:ffff:ffff:ffff', '2001:db8:1:2::1'],
  ['2001:db8::1', '2001:db8:0:0:a::', '2001:db8:0:1::1'],
  ['2001:db8:a0a:a0a::a', '2001:db8:a0a:a0a:a0a:a0a:a0a:a0a', '2001:db8:a0a:a0b::a'],
  ['fe80:0:0:5::', 'fe80:0:0:5::ffff', 'fe80::5'],
])('%s shares its /64 with %s but not with %s', async (address, neighbour, stranger) => {
  await exhaust(address);

  expect(await from(neighbour)).toBe(429);
  expect(await from(stranger)).toBe(200);
});

test('IPv4 clients of a dual-stack socket are told apart, and are the same as over IPv4', async () => {
  await exhaust('::ffff:203.0.113.1');

  expect(await from('::ffff:203.0.113.2')).toBe(200);
  expect(await from('::ffff:10.10.10.10')).toBe(200);
  expect(await from('203.0.113.1')).toBe(429);
});

test('the service is told the real address, and only that', async () => {
  const response = await fetch(`${gateway.url}/api/info?url=x`, {
    headers: { 'X-Forwarded-For': '192.0.2.66, 192.0.2.77' },
  });

  expect(((await response.json()) as { headers: Record<string, string> }).headers['x-forwarded-for']).toBe(
    '192.0.2.77',
  );
});
