import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Guard } from '@media-services/egress-guard';
import type { NetworkLogger } from '@media-services/egress-guard';
import { fetchSmall } from '../upstream/fetch-small.js';
import { defaultLimits, type RelayLimits } from '../upstream/limits.js';
import { LiveSource } from '../upstream/live-source.js';
import type { RenewSource } from '../upstream/media-source.js';
import { SessionRecord, type RelaySession } from './relay-session.js';
import { RemoteObject } from '../upstream/remote-object.js';
import { sourceAddress } from '../upstream/source-address.js';
import { faultFrom } from '../upstream/transfer-fault.js';

export interface MediaRelayOptions {
  readonly guard: Guard;
  readonly logger: NetworkLogger;
  readonly limits?: Partial<RelayLimits> | undefined;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly renew?: RenewSource | undefined;
}

export interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Gives ffmpeg media from the internet at loopback addresses that nobody can
 * guess. What it gives is complete or visibly broken off.
 */
export class MediaRelay implements AsyncDisposable {
  readonly #server: Server;
  readonly #guard: Guard;
  readonly #logger: NetworkLogger;
  readonly #limits: RelayLimits;
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #open = new Set<RelaySession>();

  private constructor({ guard, logger, limits }: MediaRelayOptions) {
    this.#guard = guard;
    this.#logger = logger;
    this.#limits = { ...defaultLimits, ...limits };
    this.#server = createServer({ keepAliveTimeout: 5_000 }, (request, response) => {
      // A reader that closes the connection while something is written to it is no error.
      response.on('error', () => undefined);
      void this.#onRequest(request, response);
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
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
   * @param renew asked when an address is refused; without it, a refused address is a failure
   */
  open({ signal, renew }: OpenOptions): RelaySession {
    const closing = new AbortController();
    const session: SessionRecord = new SessionRecord({
      context: {
        dispatcher: this.#guard.createDispatcher({ signal: closing.signal }),
        limits: this.#limits,
        logger: this.#logger,
      },
      closing,
      renew,
      publish: (owner) => this.#publish(owner),
      onClose: (tokens) => {
        for (const token of tokens) this.#sessions.delete(token);
        this.#open.delete(session);
        signal.removeEventListener('abort', end);
      },
    });
    const end = () => session.close();
    this.#open.add(session);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return session;
  }

  /**
   * Reads something small, such as a thumbnail.
   * @throws DomainError, also when it is larger than `maxBytes`; `signal.reason`
   */
  async fetchBytes(
    url: string,
    { headers = {}, maxBytes, signal }: FetchOptions,
  ): Promise<{ bytes: Buffer; contentType: string | undefined }> {
    const live = new LiveSource({ url, headers, kind: 'file' });
    const ended = new AbortController();
    const context = {
      dispatcher: this.#guard.createDispatcher({ signal: ended.signal }),
      limits: { ...this.#limits, maxAttempts: Math.min(this.#limits.maxAttempts, 2) },
      logger: this.#logger,
      countReceived: () => undefined,
    };
    try {
      const object = new RemoteObject(sourceAddress(live, (source) => source.url));
      const { bytes, contentType } = await fetchSmall(object, { maxBytes, context, signal });
      return { bytes, contentType };
    } catch (error) {
      signal.throwIfAborted();
      throw faultFrom(error).failure;
    } finally {
      ended.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#open) session.close();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #publish(session: SessionRecord): { token: string; url: string } {
    const { port } = this.#server.address() as AddressInfo;
    const token = randomBytes(24).toString('base64url');
    this.#sessions.set(token, session);
    return { token, url: `http://127.0.0.1:${port}/${token}/` };
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, token = '', path = ''] = /^\/([\w-]{32})\/(.*)$/s.exec(request.url ?? '') ?? [];
    const session = this.#sessions.get(token);
    if (!session) {
      response.writeHead(404, { 'content-length': 0 }).end();
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD', 'content-length': 0 }).end();
    } else {
      await session.serve(token, path, request, response);
    }
  }
}
