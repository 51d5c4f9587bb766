import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Logger } from '@media-services/http-common';

/**
 * A loopback port that forwards to the operator's PO token provider and nowhere else.
 * Engines may connect only to two local ports, but the provider runs on another host.
 */
export class PotBridge implements AsyncDisposable {
  readonly #server: Server;
  readonly #closing = new AbortController();

  private constructor(provider: URL, logger: Logger) {
    const port = provider.port === '' ? 80 : Number(provider.port);
    const host = provider.hostname.replace(/^\[|\]$/g, '');
    this.#server = createServer((client) => {
      const upstream = connect({ host, port });
      // Ends each when the other does.
      pipeline(client, upstream, client, this.#closing).catch((error: unknown) => {
        const isOfSystem = error instanceof Error && 'syscall' in error;
        if (isOfSystem) logger.warn({ err: error }, "can't reach the PO token provider");
      });
    });
  }

  /** @param provider an `http://host:port` URL */
  static async start(provider: string, logger: Logger): Promise<PotBridge> {
    const bridge = new PotBridge(new URL(provider), logger);
    bridge.#server.listen(0, '127.0.0.1');
    await once(bridge.#server, 'listening');
    return bridge;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#closing.abort();
    await closed;
  }
}
