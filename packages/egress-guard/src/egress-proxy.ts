import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { forwardRequest, openTunnel } from './egress-forward.js';
import {
  type EgressOptions,
  type EgressSession,
  type NetworkLogger,
  ProxySession,
} from './egress-session.js';
import type { Guard } from './guard.js';

export type { EgressOptions, EgressSession } from './egress-session.js';

interface EgressProxyOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
}

/**
 * A forward proxy on loopback, the only way the download engine reaches the network. It accepts
 * absolute-form HTTP requests and CONNECT with the credentials of an open session, and connects
 * through the guard.
 */
export class EgressProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #guard: Guard;
  readonly #logger: NetworkLogger;
  readonly #sessions = new Map<string, ProxySession>();

  private constructor({ guard, logger }: EgressProxyOptions) {
    this.#guard = guard;
    this.#logger = logger;
    this.#server = createServer({ keepAliveTimeout: 5_000 });
    this.#server.on('request', (request, response) => {
      // It is no error if the engine closes the connection while we write to it.
      response.on('error', () => undefined);
      void this.#onRequest(request, response);
    });
    this.#server.on('connect', (request, socket, head) => void this.#onConnect(request, socket, head));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
  }

  /** Starts listening on a free loopback port. */
  static async start(options: EgressProxyOptions): Promise<EgressProxy> {
    const proxy = new EgressProxy(options);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The loopback port that the proxy listens on. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Opens a session. Close it when its job ends, even after an error. */
  openSession(options: EgressOptions): EgressSession {
    const session: ProxySession = new ProxySession(this.port, options, () =>
      this.#sessions.delete(session.id),
    );
    this.#sessions.set(session.id, session);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions.values()) session.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const session = this.#sessionOf(request);
    if (session === null) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="egress"', connection: 'close' }).end();
      return;
    }
    session.own(request.socket);
    await forwardRequest({ request, response, session, guard: this.#guard, logger: this.#logger });
  }

  async #onConnect(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const session = this.#sessionOf(request);
    if (session === null) {
      client.on('error', () => client.destroy());
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="egress"\r\nConnection: close\r\n\r\n',
      );
      return;
    }
    session.own(client);
    await openTunnel({
      authority: request.url ?? '',
      client,
      head,
      session,
      guard: this.#guard,
      logger: this.#logger,
    });
  }

  #sessionOf(request: IncomingMessage): ProxySession | null {
    const encoded = /^basic\s+(?<credentials>\S+)$/i.exec(request.headers['proxy-authorization'] ?? '')
      ?.groups?.['credentials'];
    const credentials = Buffer.from(encoded ?? '', 'base64');
    const session = this.#sessions.get(credentials.toString().split(':', 1)[0] ?? '');
    return session?.accepts(credentials) ? session : null;
  }
}
