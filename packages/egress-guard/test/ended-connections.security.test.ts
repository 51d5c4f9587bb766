import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { createGuard } from '../src/index.js';

const body = 'x'.repeat(1000);
const closing = 'HTTP/1.1 200 OK\r\nConnection: close\r\n';

/** What becomes of a response whose server ends the connection after its last byte. */
async function read(head: string, end: (socket: Socket) => void, isPaused: boolean): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => void socket.write(`${head}\r\n${body}`));
    connections.push(socket);
  });
  const connections: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const guard = createGuard({ allowedPrivateSources: [`127.0.0.1:${port}`] });
  const ended = new AbortController();
  const dispatcher = guard.createDispatcher({ signal: ended.signal });
  let received = '';
  try {
    return await new Promise<string>((resolve) => {
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (controller, piece) => {
          received += piece.toString();
          if (received.length < body.length) return;
          if (isPaused) controller.pause();
          for (const socket of connections) end(socket);
        },
        onResponseEnd: () => resolve(`${received.length} bytes`),
        onResponseError: () => resolve(`${received.length} bytes, broken`),
      };
      dispatcher.dispatch({ origin: `http://127.0.0.1:${port}`, path: '/', method: 'GET' }, handler);
    });
  } finally {
    ended.abort();
    const closed = once(server, 'close');
    server.close();
    await closed;
  }
}

const finish = (socket: Socket) => void socket.end();
const reset = (socket: Socket) => void socket.resetAndDestroy();

describe.each([
  ['that its reader paused', true],
  ['that its reader reads', false],
])('a response %s', (_how, isPaused) => {
  it.each([
    ['of a stated length, is complete', `${closing}Content-Length: 1000\r\n`, finish, '1000 bytes'],
    ['without a length, is complete', closing, finish, '1000 bytes'],
    ['that lacks its end, is broken', `${closing}Content-Length: 1001\r\n`, finish, '1000 bytes, broken'],
    [
      'that lacks a byte of a chunk, is broken',
      `${closing}Transfer-Encoding: chunked\r\n\r\n3e9`,
      finish,
      '1000 bytes, broken',
    ],
    ['without a length, is broken by a reset', closing, reset, '1000 bytes, broken'],
  ])(
    '%s',
    async (_what, head, end, expected) => {
      expect(await read(head, end, isPaused)).toBe(expected);
    },
    // Where undici throws, nothing else ends the test.
    20_000,
  );
});
