import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Open connections, whatever their state. */
  readonly sockets: ReadonlySet<Socket>;
  readonly server: Server;
}

/** An HTTP server on a port of a loopback address; a free one unless given. */
export async function startServer(
  listener: RequestListener,
  host = '127.0.0.1',
  wantedPort = 0,
): Promise<TestServer> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(wantedPort, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    sockets,
    server,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Logs nothing. */
export const silentLogger = { debug: () => undefined, warn: () => undefined };
