import { setTimeout as delay } from 'node:timers/promises';
import { startGateway, type TestGateway } from './support/gateway.js';

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway();
});

afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
});

async function logLine(id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const line = gateway.accessLog().find(({ requestId }) => requestId === id);
    if (line !== undefined) return line;
    await delay(10);
  }
}

test('has a line for each request with its id and without its query', async () => {
  await fetch(`${gateway.url}/api/info?url=https%3A%2F%2Fexample.org%2F%3Ftoken%3Dsecret`, {
    headers: {
      'X-Request-Id': 'line-1',
      Referer: 'https://example.org/?token=secret',
      'User-Agent': 'a "quoted" agent',
    },
  });

  const line = await logLine('line-1');

  expect(line).toMatchObject({
    service: 'gateway',
    client: '127.0.0.1',
    method: 'GET',
    path: '/api/info',
    status: 200,
    completed: 'OK',
    upstreamStatus: '200',
    userAgent: 'a "quoted" agent',
  });
  expect(typeof line.durationSeconds).toBe('number');
  expect(JSON.stringify(line)).not.toContain('secret');
});

test('tells that a request was limited', async () => {
  for (let count = 0; count < 11; count += 1) await fetch(`${gateway.url}/api/info?url=x`);
  await fetch(`${gateway.url}/api/info?url=x`, { headers: { 'X-Request-Id': 'limited-1' } });

  expect(await logLine('limited-1')).toMatchObject({
    status: 429,
    limited: expect.stringContaining('REJECTED') as string,
    path: '/api/info',
  });
});
