import { startGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';

const statusesOf = async (count: number, ask: (index: number) => Promise<Response>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) statuses.push((await ask(index)).status);
  return statuses;
};

test('the video rate is a setting; a third may come in one burst, and 0 disables it', async () => {
  await using strict = await startGateway({ env: { VIDEO_REQUESTS_PER_MINUTE: '3' } });
  expect(await statusesOf(2, () => fetch(`${strict.url}/api/info?url=x`))).toEqual([200, 200]);
  const rejection = await fetch(`${strict.url}/api/info?url=x`);
  expect([rejection.status, rejection.headers.get('retry-after')]).toEqual([429, '20']);

  await using free = await startGateway({ env: { VIDEO_REQUESTS_PER_MINUTE: '0' } });
  expect(new Set(await statusesOf(30, () => fetch(`${free.url}/api/info?url=x`)))).toEqual(new Set([200]));
});

test('the number of concurrent streams is a setting, which the rejection states', async () => {
  await using gateway = await startGateway({ env: { STREAMS_PER_CLIENT: '1' } });
  gateway.videoDl.respondWith((_req, res) => void res.writeHead(200).write('first bytes'));
  expect((await fetch(`${gateway.url}/api/stream?url=x`)).status).toBe(200);

  const problem = await expectProblem(await fetch(`${gateway.url}/api/stream?url=x`), 429, 'rate_limited');

  expect(problem.detail).toContain('This client IP already has 1 stream running');
});

test('only trusted proxies identify the client', async () => {
  const from = (url: string, address: string) =>
    fetch(`${url}/api/info?url=x`, { headers: { 'X-Forwarded-For': address } });
  const seenAs = async (url: string, address: string) =>
    ((await (await from(url, address)).json()) as { headers: Record<string, string> }).headers[
      'x-forwarded-for'
    ];

  await using behindProxy = await startGateway({ env: { TRUSTED_PROXIES: '127.0.0.0/8, fd00::/8' } });
  expect(await seenAs(behindProxy.url, '203.0.113.7')).toBe('203.0.113.7');
  expect(await seenAs(behindProxy.url, '203.0.113.7, 127.0.0.5')).toBe('203.0.113.7');
  expect(new Set(await statusesOf(30, (index) => from(behindProxy.url, `198.51.100.${index}`)))).toEqual(
    new Set([200]),
  );

  await using behindAnother = await startGateway({ env: { TRUSTED_PROXIES: '192.0.2.1' } });
  expect(await seenAs(behindAnother.url, '203.0.113.7')).toBe('127.0.0.1');
});

test("the operator's own additions are included in both blocks", async () => {
  await using gateway = await startGateway({
    enabled: {
      'names.conf': 'map $host $greeting { default hello; }',
      'server/greeting.conf': 'location = /greeting { return 200 $greeting; }',
    },
  });
  expect(await (await fetch(`${gateway.url}/greeting`)).text()).toBe('hello');
});

test('works in a folder with spaces and umlauts in its name, and tells a proxy in front not to buffer streams', async () => {
  await using gateway = await startGateway({ folderPrefix: 'gate way ü-' });
  expect((await fetch(`${gateway.url}/`)).status).toBe(200);
  expect((await fetch(`${gateway.url}/api/health`)).status).toBe(503);
  for (const path of ['/api/stream?url=x', '/api/stream/video?url=x', '/video-dl/api/stream?url=x']) {
    expect((await fetch(gateway.url + path)).headers.get('x-accel-buffering')).toBe('no');
  }
});
