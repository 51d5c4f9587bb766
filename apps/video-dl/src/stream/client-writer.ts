import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { watched } from './watchdog.js';

/** Writes to the client no faster than it reads. */
export class ClientWriter {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #idleTimeoutMs: number;
  readonly #onIdle: () => void;

  constructor(
    response: ServerResponse,
    options: { signal: AbortSignal; idleTimeoutMs: number; onIdle: () => void },
  ) {
    this.#response = response;
    this.#signal = options.signal;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#onIdle = options.onIdle;
  }

  /** @throws the signal's reason when that aborts. */
  async write(part: Uint8Array): Promise<void> {
    this.#signal.throwIfAborted();
    if (!this.#response.write(part)) await this.#until('drain');
  }

  /** Ends the response, and waits until the client's kernel has all of it. */
  async end(): Promise<void> {
    this.#signal.throwIfAborted();
    const finished = this.#until('finish');
    this.#response.end();
    await finished;
  }

  async #until(event: 'drain' | 'finish'): Promise<void> {
    try {
      await watched(this.#idleTimeoutMs, this.#onIdle, () =>
        once(this.#response, event, { signal: this.#signal }),
      );
    } catch (error) {
      this.#signal.throwIfAborted();
      throw error;
    }
  }
}
