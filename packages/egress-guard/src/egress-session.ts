import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { DomainError } from '@media-services/http-common';

/** One job's right to use the egress proxy. */
export interface EgressSession {
  /** `http://<id>:<secret>@127.0.0.1:<port>` */
  readonly proxyUrl: string;
  /** What the guard refused or the network failed, in order. */
  readonly failures: readonly DomainError[];
  /** Takes the right back and destroys every connection made with it. */
  close(): void;
}

/** Keeps no more than this many failures: a page can name any number of bad addresses. */
const maxFailures = 100;

/** The proxy's side of a session. */
export class SessionRecord implements EgressSession {
  readonly id = randomBytes(8).toString('hex');
  readonly failures: DomainError[] = [];
  readonly proxyUrl: string;
  readonly #expected: Buffer;
  readonly #closing = new AbortController();
  readonly #sockets = new Set<Duplex>();
  readonly #onClose: () => void;

  constructor(port: number, onClose: () => void) {
    const secret = randomBytes(24).toString('hex');
    this.#expected = Buffer.from(`${this.id}:${secret}`);
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

  record(failure: DomainError): void {
    if (this.failures.length < maxFailures) this.failures.push(failure);
  }

  close(): void {
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    this.#onClose();
  }
}
