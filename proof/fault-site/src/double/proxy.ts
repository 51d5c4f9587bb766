import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Certificates } from './certificates.js';
import { Exchange, type Site } from './exchange.js';

/** A request to a site. */
export interface SiteRequest {
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** 0 until the response is sent. */
  status: number;
}

/**
 * An outbound proxy that simulates the internet with a few sites in this process. It accepts
 * every CONNECT, terminates TLS with its own certificate, and passes the request to the named
 * site.
 */
export class SiteProxy implements AsyncDisposable {
  /** Every request to a site, in order. */
  readonly requests: SiteRequest[] = [];
  /** Errors thrown by sites. */
  readonly mistakes: unknown[] = [];
  readonly #sites: readonly Site[];
  readonly #proxy: Server;
  readonly #http: Server;
  readonly #https: HttpsServer;
  readonly #sockets = new Set<Socket>();

  private constructor(sites: readonly Site[], { certificate, key }: Certificates) {
    this.#sites = sites;
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      void this.#answer(request, response);
    this.#http = createHttpServer(listener);
    this.#https = createHttpsServer({ cert: certificate, key, ALPNProtocols: ['http/1.1'] }, listener);
    // A client that does not trust the certificate may hang up.
    this.#https.on('tlsClientError', (_error, socket) => socket.destroy());
    this.#proxy = createHttpServer();
    this.#proxy.on('connect', (request, socket: Socket) => this.#open(request.url ?? '', socket));
  }

  static async start(sites: readonly Site[], certificates: Certificates): Promise<SiteProxy> {
    const proxy = new SiteProxy(sites, certificates);
    proxy.#proxy.listen(0, '127.0.0.1');
    await once(proxy.#proxy, 'listening');
    return proxy;
  }

  /** Value for `OUTBOUND_PROXY`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#proxy, 'close');
    this.#proxy.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#proxy.closeAllConnections();
    await closed;
  }

  #open(authority: string, socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    // These servers don't listen; they serve connections passed to them.
    const server = authority.endsWith(':443') ? this.#https : this.#http;
    server.emit('connection', socket);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
    const url = new URL(request.url ?? '/', `${scheme}://${request.headers.host ?? 'nameless.invalid'}`);
    const { hostname: host, pathname: path, searchParams: query } = url;
    const asked: SiteRequest = { host, path, query, headers: request.headers, status: 0 };
    this.requests.push(asked);
    response.once('close', () => (asked.status = response.statusCode));
    const exchange = new Exchange(url, request, response);
    const site = this.#sites.find(({ hosts }) => hosts.some((pattern) => matches(pattern, host)));
    try {
      if (site === undefined) await exchange.refuse(404, `the double has no ${host}`);
      else await site.answer(exchange);
    } catch (error) {
      // A client that disconnects also ends the response.
      if (!response.destroyed) this.mistakes.push(error);
      response.destroy();
    }
  }
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern;
}
