import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startGateway, type TestGateway } from './support/gateway.js';
import { expectProblem } from './support/problem.js';
import { statusFrom } from './support/raw-client.js';

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway();
  // Accepts every request and never responds.
  gateway.videoDl.respondWith((_req, res) => {
    res.writeHead(200);
    res.write('first bytes');
  });
  gateway.bgRemoval.respondWith((_req, res) => {
    res.writeHead(200);
    res.write('first bytes');
  });
});

afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
});

const lookUp = () => fetch(`${gateway.url}/api/info?url=x`);
const upload = () => fetch(`${gateway.url}/api/remove-background`, { method: 'POST', body: 'x' });

test.each([
  ['8 requests for details', 8, lookUp, '/api/info?url=x'],
  ['5 images', 5, upload, '/api/remove-background'],
])(
  'one client has %s at once, and no more, which does not affect another',
  async (what, limit, ask, path) => {
    const running = await Promise.all(Array.from({ length: limit }, ask));
    expect(running.map(({ status }) => status)).toEqual(Array.from({ length: limit }, () => 200));

    const problem = await expectProblem(await ask(), 429, 'rate_limited');

    expect(problem.detail).toContain(what);
    expect(await statusFrom(gateway.port, '127.0.0.2', path)).toBe(200);
  },
);

test('an upload counts from its start, so that slow ones cannot accumulate', async () => {
  gateway.bgRemoval.respondWith((req) => req.resume());
  const slow = Array.from({ length: 5 }, () => connect(gateway.port, '127.0.0.1'));
  for (const socket of slow) {
    socket.write('POST /api/remove-background HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nslow');
  }
  while (gateway.bgRemoval.requests.length < 5) await new Promise((resolve) => setImmediate(resolve));

  await expectProblem(await upload(), 429, 'rate_limited');

  for (const socket of slow) socket.destroy();
});

test('thousands of unfinished requests from one IP address do not block others', async () => {
  let turnedAway = 0;
  const halfOpen: Socket[] = [];
  // In groups that the queue of new connections can hold; the kernel tries others again after a second.
  while (halfOpen.length < 8600) {
    const group = Array.from({ length: 200 }, () => openHalf(() => (turnedAway += 1)));
    halfOpen.push(...(await Promise.all(group)));
  }

  const statuses: number[] = [];
  for (let count = 0; count < 20; count += 1) statuses.push(await statusFrom(gateway.port, '127.0.0.2', '/'));

  expect(new Set(statuses)).toEqual(new Set([200]));
  // A connection closed after 10 s, the header timeout, does not count as rejected.
  expect(turnedAway).toBe(0);
  for (const socket of halfOpen) socket.removeAllListeners('close').destroy();
});

async function openHalf(onRejected: () => void): Promise<Socket> {
  const opened = performance.now();
  // Without `localAddress`, with which the kernel takes long to find thousands of free ports.
  const socket = connect({ port: gateway.port, host: '127.0.0.1' });
  socket.on('error', () => undefined); // it closes, which is looked at here:
  socket.on('close', () => {
    if (performance.now() - opened < 10_000) onRejected();
  });
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: half');
  return socket;
}
