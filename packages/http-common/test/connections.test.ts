import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { resetSocket } from '../src/index.js';
import { rawRequest, startTestService, type TestService } from './support/http.js';

let service: TestService['service'];
beforeEach(async () => {
  ({ service } = await startTestService());
});
afterEach(async () => {
  await service.stop();
});

it.each([
  ['a URL of 20 kB', `GET /api/hello?x=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: test\r\n\r\n`],
  ['a request that is not HTTP', 'HELO test\r\n\r\n'],
  ['a broken header', 'GET /api/hello HTTP/1.1\r\nHost: test\r\nno colon\r\n\r\n'],
  ['HTTP/1.1 without a Host', 'GET /api/hello HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [
    'an unknown transfer coding',
    'POST /api/upload HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: identity\r\n\r\nx',
  ],
  [
    'a broken chunk',
    'POST /api/upload HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nno length\r\n',
  ],
])('%s gets a problem', async (_name, request) => {
  const { text } = await rawRequest(service.url, request);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 400 /);
  expect(head).toMatch(/content-type: application\/problem\+json/i);
  expect(JSON.parse(/\{.*\}/.exec(body)?.[0] ?? '')).toMatchObject({ code: 'invalid_request', status: 400 });
});

it('the problem of a malformed request has the id that the gateway gave it', async () => {
  const { text } = await rawRequest(
    service.url,
    'GET /api/hello HTTP/1.1\r\nHost: test\r\nX-Request-ID: from-gateway\r\nX-Broken: \x01\r\n\r\n',
  );
  expect(text).toMatch(/\r\nX-Request-Id: from-gateway\r\n[^]*"requestId":"from-gateway"/);
});

it('CONNECT is a method that no path supports', async () => {
  const { text } = await rawRequest(service.url, 'CONNECT test:443 HTTP/1.1\r\nHost: test\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: GET, HEAD, POST\r\n/);
  expect(text).toContain('"code":"method_not_allowed"');
});

it('an unknown Expect is ignored', async () => {
  const { text } = await rawRequest(
    service.url,
    'POST /api/upload HTTP/1.1\r\nHost: test\r\nExpect: bogus\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx',
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\{"bytes":1\}/);
});

it('an error in the second of two pipelined requests is not sent as the response to the first', async () => {
  const { text } = await rawRequest(
    service.url,
    'GET /api/waiting HTTP/1.1\r\nHost: test\r\n\r\nno HTTP at all\r\n\r\n',
  );
  expect(text).toBe('');
});

it('garbage after a request in progress closes the connection without writing into its response', async () => {
  const { text } = await rawRequest(
    service.url,
    'GET /api/endless HTTP/1.1\r\nHost: test\r\n\r\nno HTTP at all\r\n\r\n',
  );
  expect(text).not.toContain('invalid_request');
});

/**
 * Passes the server's side of a new connection to `use`. Returns how many bytes the client
 * received and its error.
 */
async function serveOnce(
  use: (socket: Socket) => void,
): Promise<{ received: number; errorCode: string | undefined }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let received = 0;
  let errorCode: string | undefined;
  client.on('data', (chunk) => (received += chunk.length));
  client.on('error', (error: NodeJS.ErrnoException) => (errorCode = error.code));
  const clientClosed = new Promise((resolve) => client.once('close', resolve));
  const [socket] = (await once(server, 'connection')) as [Socket];
  const serverClosed = new Promise((resolve) => socket.once('close', resolve));
  use(socket);
  await Promise.all([serverClosed, clientClosed]);
  const stopped = once(server, 'close');
  server.close();
  await stopped;
  return { received, errorCode };
}

test('a connection is reset', async () => {
  expect(await serveOnce(resetSocket)).toEqual({ received: 0, errorCode: 'ECONNRESET' });
});

test('a connection with unsent data is reset', async () => {
  const outcome = await serveOnce((socket) => {
    socket.on('error', () => undefined);
    socket.end(Buffer.alloc(50e6));
    resetSocket(socket);
  });
  expect(outcome.errorCode).toBe('ECONNRESET');
  expect(outcome.received).toBeLessThan(50e6);
});

test('a connection whose FIN has just been sent is closed', async () => {
  const outcome = await serveOnce((socket) => {
    socket.end('whole');
    resetSocket(socket);
  });
  expect(outcome.received).toBe(5);
});
