/**
 * Ends everything that belongs to one stream, for the first reason that comes
 * up: the client left, a deadline passed, upstream failed, the service stops.
 */
export class StreamAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #client: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onClientGone = (): void => this.abort(this.#client.reason);

  /** @param onTotalTimeout gives the reason when the stream has lasted `totalTimeoutMs`. */
  constructor(client: AbortSignal, totalTimeoutMs: number, onTotalTimeout: () => Error) {
    this.#client = client;
    client.addEventListener('abort', this.#onClientGone, { once: true });
    // setTimeout takes 31 bits; a longer limit is as good as none.
    this.#timer = setTimeout(() => this.abort(onTotalTimeout()), Math.min(totalTimeoutMs, 2 ** 31 - 1));
    if (client.aborted) this.#onClientGone();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#onClientGone);
  }
}
