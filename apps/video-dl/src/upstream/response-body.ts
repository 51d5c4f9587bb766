import { Coalescer } from '@media-services/egress-guard';
import { DomainError } from '@media-services/http-common';
import type { Dispatcher } from 'undici';

/** The bytes of one response: in chunks of 16 to 64 KiB, whatever pieces the server sends. */
export class ResponseBody {
  readonly #controller: Dispatcher.DispatchController;
  readonly #coalescer: Coalescer;

  constructor(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    this.#coalescer = new Coalescer(controller);
  }

  /** For the connection only. */
  push(piece: Buffer): void {
    this.#coalescer.push(piece);
  }

  /** For the connection only. */
  end(error?: Error): void {
    this.#coalescer.end(error);
  }

  /** Closes the connection, unless the response has arrived completely. */
  destroy(error: Error = new Error('the response is not read any further')): void {
    this.#coalescer.end(error);
    this.#controller.abort(error);
  }

  /**
   * The bytes, read only as fast as they are taken. Leaving the loop early destroys the body.
   * @param idleTimeoutMs without a byte while one is waited for; the reader's own pauses don't count
   * @throws DomainError `upstream_timeout`, the connection's error
   */
  async *chunks(idleTimeoutMs: number): AsyncGenerator<Buffer, void, void> {
    let waitingSince = Number.POSITIVE_INFINITY;
    const watch = setInterval(
      () => {
        if (performance.now() - waitingSince < idleTimeoutMs) return;
        this.destroy(
          new DomainError('upstream_timeout', "The site's media server stopped sending. Try again later."),
        );
      },
      Math.min(idleTimeoutMs / 4, 1_000),
    );
    try {
      for (;;) {
        waitingSince = performance.now();
        const chunk = await this.#coalescer.next();
        waitingSince = Number.POSITIVE_INFINITY;
        if (chunk === null) return;
        yield chunk;
      }
    } finally {
      clearInterval(watch);
      this.destroy();
    }
  }
}
