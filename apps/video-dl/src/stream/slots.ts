import { DomainError } from '@media-services/http-common';

interface Waiting {
  grant(): void;
}

const retryAfterSeconds = 15;

/** Lets so many streams run and so many more wait, first come, first served. */
export class StreamSlots {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<Waiting>();
  #running = 0;

  constructor(options: { maxRunning: number; maxWaiting: number }) {
    this.#maxRunning = options.maxRunning;
    this.#maxWaiting = options.maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws DomainError `overloaded` when a request that came now would have no place to wait. */
  assertRoom(): void {
    if (this.#running < this.#maxRunning || this.#waiting.size < this.#maxWaiting) return;
    throw new DomainError(
      'overloaded',
      `${this.#running} streams are being made and ${this.#waiting.size} wait, which is as many as this service takes. Try again in a moment.`,
      { retryAfterSeconds },
    );
  }

  /**
   * Waits for a place.
   *
   * @returns what gives the place back; calling it again does nothing.
   * @throws DomainError `overloaded` when the queue is full; the signal's reason when it aborts first.
   */
  async acquire(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#running >= this.#maxRunning) {
      this.assertRoom();
      await this.#wait(signal);
    } else this.#running += 1;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#release();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        grant: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** The place goes straight to who has waited longest, so that nobody can come between. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.grant();
  }
}
