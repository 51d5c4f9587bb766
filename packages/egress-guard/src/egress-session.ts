import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { DomainError } from '@media-services/http-common';

/** One job's right to use the egress proxy. */
export interface EgressSession {
  /** `http://<id>:<secret>@127.0.0.1:<port>` */
  readonly proxyUrl: string;
  /** What the guard refused or the network failed, in order. */
  readonly failures: readonly DomainError[];
  /** Why the session was ended before its time: it wanted more than it may have. */
  readonly exceeded: DomainError | undefined;
  /** Takes the right back and destroys every connection made with it. */
  close(): void;
}

/** What a session may do before it is ended. */
export interface EgressOptions {
  /** Which outbound proxy all of it goes through; the first unless given. */
  readonly exit?: number | undefined;
  /** Whose job it is: name lookups are limited for each client. */
  readonly client?: string | undefined;
  /** Of all answers together, as they arrive: compressed. */
  readonly maxBytes: number;
  readonly maxConnections: number;
  /** The failure of a session that wanted more. */
  readonly onExceeded: (what: 'bytes' | 'connections') => DomainError;
}

/** Keeps no more than this many failures: a page can name any number of bad addresses. */
const maxFailures = 100;

/** The proxy's side of a session. */
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

  /** Makes a socket end with the session. */
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
    return this.#options.client;
  }

  /** @throws DomainError when the session has no connection left; it is ended then. */
  countConnection(): void {
    this.#connections += 1;
    if (this.#connections > this.#options.maxConnections) throw this.#exceeded('connections');
  }

  /** Counts bytes of an answer; too many end the session. */
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
