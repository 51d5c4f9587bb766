import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { startGateway, type TestGateway } from './support/gateway.js';

let gateway: TestGateway;

/** An address that nothing listens on. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}

beforeAll(async () => {
  const nobody = await closedAddress();
  gateway = await startGateway({ variables: { VIDEO_DL_UPSTREAM: nobody, BG_REMOVAL_UPSTREAM: nobody } });
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** How many upstreams one request went to; nginx separates those of an internal redirect with a colon. */
async function passes(requestId: string): Promise<number> {
  for (;;) {
    const line = gateway.accessLog().find((entry) => entry['requestId'] === requestId);
    if (line !== undefined) return String(line['upstream']).split(' : ').length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test.each(['/api/info?url=https%3A%2F%2Fexample.com%2Fa', '/video-dl/api/health', '/bg-removal/api/health'])(
  'a GET of %s that no replica has begun is tried once more, then it is a 502 problem',
  async (path) => {
    const requestId = `again-${path.replace(/\W/g, '').slice(0, 30)}`;
    const response = await fetch(gateway.url + path, { headers: { 'X-Request-Id': requestId } });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ code: 'service_unavailable', requestId });
    expect(await passes(requestId)).toBe(2);
  },
);

test('an upload is never sent twice', async () => {
  const response = await fetch(`${gateway.url}/api/remove-background`, {
    method: 'POST',
    headers: { 'X-Request-Id': 'upload-once' },
    body: 'picture',
  });
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ code: 'service_unavailable' });
  expect(await passes('upload-once')).toBe(1);
});
