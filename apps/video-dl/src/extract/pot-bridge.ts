import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '@media-services/http-common';

/**
 * A loopback port that forwards to the operator's PO token provider and nowhere else.
 * Engines may connect only to two local ports, but the provider runs on another host.
 * @param provider an `http://host:port` URL
 */
export async function startPotBridge(provider: string, logger: Logger) {
  const url = new URL(provider);
  const port = url.port === '' ? 80 : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const closing = new AbortController();
  const server = createServer((client) => {
    const upstream = connect({ host, port });
    // Ends each when the other does.
    pipeline(client, upstream, client, closing).catch((error: unknown) => {
      const isOfSystem = error instanceof Error && 'syscall' in error;
      if (isOfSystem) logger.warn({ err: error }, "can't reach the PO token provider");
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      closing.abort();
      await closed;
    },
  };
}
