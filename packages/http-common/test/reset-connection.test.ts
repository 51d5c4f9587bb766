import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { resetSocket } from '../dist/index.js';

/** A connection of which the server's side was given to `use`; `received` is what the client got, and how it ended. */
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

test('a connection that has still to be written to is reset', async () => {
  const outcome = await serveOnce((socket) => {
    socket.on('error', () => undefined);
    socket.end(Buffer.alloc(50e6));
    resetSocket(socket);
  });
  expect(outcome.errorCode).toBe('ECONNRESET');
  expect(outcome.received).toBeLessThan(50e6);
});

test('a connection whose end has just been sent is closed', async () => {
  const outcome = await serveOnce((socket) => {
    socket.end('whole');
    resetSocket(socket);
  });
  expect(outcome.received).toBe(5);
});
