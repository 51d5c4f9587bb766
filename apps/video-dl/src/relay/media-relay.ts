import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ParserPool } from '../parser-process/parser-pool.js';
import { type ReaderOptions, transferContext, type UpstreamOptions } from '../upstream/upstream.js';
import { ServedSession, type RelaySession } from './session.js';

/** Bytes buffered for ffmpeg per connection. Larger buffers mean fewer, cheaper writes. */
const highWaterMark = 256 * 1024;

export interface MediaRelayOptions extends UpstreamOptions {
  /** For input that arrives whole. */
  readonly parsers: Pick<ParserPool, 'forClient'>;
}

export interface OpenOptions extends ReaderOptions {
  /** The outbound proxy used for the extraction. */
  readonly exit?: number | undefined;
}

/**
 * Delivers media from the internet to ffmpeg. Every ffmpeg has the relay as its HTTP proxy,
 * with the session's token as the password, so that a child reaches its own inputs and
 * nothing else. A response is either complete or visibly aborted.
 */
export class MediaRelay implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: MediaRelayOptions;
  /** Keyed by token. */
  readonly #sessions = new Map<string, ServedSession>();

  private constructor(options: MediaRelayOptions) {
    this.#options = options;
    this.#server = createServer({ keepAliveTimeout: 5_000, highWaterMark }, (request, response) => {
      // A reader may close the connection at any time.
      response.on('error', () => undefined);
      void this.#onRequest(request, response);
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.on('connect', (_request, socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
    });
  }

  /** Starts listening on a free loopback port. */
  static async start(options: MediaRelayOptions): Promise<MediaRelay> {
    const relay = new MediaRelay(options);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  /**
   * Opens a session that ends with `signal` or `close()`, whichever is first.
   * @param renew called when a site rejects a URL; without it, a rejected URL is a failure
   */
  open({ signal, renew, exit, client }: OpenOptions): RelaySession {
    const closing = new AbortController();
    const token = randomBytes(24).toString('base64url');
    const { port } = this.#server.address() as AddressInfo;
    const session = new ServedSession({
      context: transferContext(this.#options, { signal: closing.signal, client }, exit),
      parse: this.#options.parsers.forClient(client),
      closing,
      renew,
      environment: { http_proxy: `http://relay:${token}@127.0.0.1:${port}` },
    });
    this.#sessions.set(token, session);
    closing.signal.addEventListener('abort', () => this.#sessions.delete(token));
    if (signal.aborted) session.close();
    else signal.addEventListener('abort', () => session.close(), { signal: closing.signal });
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
    const session = this.#sessions.get(tokenOf(request) ?? '');
    if (!session) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="relay"', 'content-length': 0 }).end();
    } else if (request.method !== 'GET') {
      response.writeHead(405, { allow: 'GET', 'content-length': 0 }).end();
    } else {
      await session.serve(request.url ?? '', request, response);
    }
  }
}

/** The password of `Proxy-Authorization: Basic` (RFC 7617). */
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const credentials = /^Basic ([\w+/=-]{1,200})$/i.exec(headers['proxy-authorization'] ?? '')?.[1];
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString('latin1');
  return text.slice(text.indexOf(':') + 1);
}
