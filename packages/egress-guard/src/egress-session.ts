import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { DomainError } from '@media-services/http-common';

/** One job's permission to use the egress proxy. */
export interface EgressSession {
  /** `http://<id>:<secret>@127.0.0.1:<port>` */
  readonly proxyUrl: string;
  /** Requests that the guard rejected or that failed, in order. */
  readonly failures: readonly DomainError[];
  /** The limit that the session exceeded, which closed it early. */
  readonly exceeded: DomainError | undefined;
  /** Ends the session and destroys all its connections. */
  close(): void;
}

/** The limits of a session. */
export interface EgressOptions {
  /** Index of the outbound proxy for all its connections; the first by default. */
  readonly exit?: number | undefined;
  /** The job's client at the moment: name lookups are limited per client. */
  readonly client?: (() => string) | undefined;
  /** Total bytes of all responses as received, before decompression. */
  readonly maxBytes: number;
  readonly maxConnections: number;
  /** Creates the failure for an exceeded limit. */
  readonly onExceeded: (what: 'bytes' | 'connections') => DomainError;
}

/** Bounds the stored failures, because a page can contain any number of bad URLs. */
const maxFailures = 100;

/** The proxy's view of a session. */
export class ProxySession implements EgressSession {
  readonly id = randomBytes(8).toString('hex');
  readonly failures: DomainError[] = [];
  readonly proxyUrl: string;
  readonly #expected: Buffer;
  readonly #closing = new AbortController();
  readonly #sockets = new Set<Duplex>();
  readonly #options: EgressOptions;
  readonly #onClose: () => void;
  exceeded: DomainError | undefined;
  #bytes = 0;
  #connections = 0;

  constructor(port: number, options: EgressOptions, onClose: () => void) {
    const secret = randomBytes(24).toString('hex');
    this.#expected = Buffer.from(`${this.id}:${secret}`);
    this.#options = options;
    this.#onClose = onClose;
    this.proxyUrl = `http://${this.id}:${secret}@127.0.0.1:${port}`;
  }

  /** Aborts when the session is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** @param credentials the decoded `id:secret` of a request */
  accepts(credentials: Buffer): boolean {
    return credentials.length === this.#expected.length && timingSafeEqual(credentials, this.#expected);
  }

  /** Destroys a socket when the session ends. */
  own(socket: Duplex): void {
    if (this.signal.aborted) socket.destroy();
    else if (!this.#sockets.has(socket)) {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    }
  }

  get exit(): number | undefined {
    return this.#options.exit;
  }

  get client(): string | undefined {
    return this.#options.client?.();
  }

  /** @throws DomainError if the session exceeds its connections, which also closes it */
  countConnection(): void {
    this.#connections += 1;
    if (this.#connections > this.#options.maxConnections) throw this.#exceeded('connections');
  }

  /** Counts response bytes. Closes the session if there are too many. */
  countBytes(count: number): void {
    this.#bytes += count;
    if (this.#bytes > this.#options.maxBytes && !this.signal.aborted) this.#exceeded('bytes');
  }

  #exceeded(what: 'bytes' | 'connections'): DomainError {
    const failure = this.#options.onExceeded(what);
    this.exceeded = failure;
    this.record(failure);
    this.close();
    return failure;
  }

  record(failure: DomainError): void {
    if (this.failures.length < maxFailures) this.failures.push(failure);
  }

  close(): void {
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    this.#onClose();
  }
}

/** The HTTP response to the engine. Users see the session's failure, not the engine's error message. */
export interface Rejection {
  readonly status: 400 | 403 | 502 | 504;
  readonly reason: string;
}

/**
 * Records a failed connection in its session and chooses the HTTP response.
 * @returns null if the session is already closed, so that nobody needs a response
 */
export function rejectionFor(error: unknown, session: ProxySession, logger: NetworkLogger): Rejection | null {
  if (session.signal.aborted) return null;
  const failure =
    error instanceof DomainError
      ? error
      : new DomainError('upstream_unreachable', 'The connection to the site failed. Try again later.', {
          cause: error,
        });
  session.record(failure);
  logger.debug({ code: failure.code, err: failure }, 'egress rejected');
  switch (failure.code) {
    case 'forbidden_address':
      return { status: 403, reason: 'Forbidden' };
    case 'invalid_url':
      return { status: 400, reason: 'Bad Request' };
    case 'upstream_timeout':
      return { status: 504, reason: 'Gateway Timeout' };
    default:
      return { status: 502, reason: 'Bad Gateway' };
  }
}

/** The part of a pino logger that the network modules use. */
export interface NetworkLogger {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
