import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { stack } from './stack.js';

/** The gateway as seen from another client's IP address. */
export interface Client extends AsyncDisposable {
  readonly url: string;
}

/**
 * A proxy to the gateway whose requests come from a separate loopback address, so that tests do
 * not use up each other's rate limits.
 */
export async function newClient(): Promise<Client> {
  const part = () => 1 + Math.floor(Math.random() * 250);
  const localAddress = `127.${part()}.${part()}.${part()}`;
  const { hostname, port } = new URL(stack.gateway);
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), localAddress, allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from));
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
