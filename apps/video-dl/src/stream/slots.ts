import { DomainError } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';

interface SlotsOptions {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

const retryAfterSeconds = 15;

/**
 * Limits how many streams run and wait, with a share for every client. `FairSlots` says who
 * is next; besides,
 *
 * - a quarter of the slots is for clients that have nothing running, so a client that takes
 *   all it can get leaves room for a newcomer;
 * - one client fills at most half of the queue.
 */
export class StreamSlots {
  readonly #maxWaiting: number;
  readonly #slots: FairSlots;

  constructor({ maxRunning, maxWaiting }: SlotsOptions) {
    this.#maxWaiting = maxWaiting;
    const forNewcomers = Math.floor(maxRunning / 4);
    this.#slots = new FairSlots(
      (client, slots) => maxRunning - slots.running > (slots.runningOf(client) > 0 ? forNewcomers : 0),
    );
  }

  get running(): number {
    return this.#slots.running;
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  /** @throws DomainError `overloaded` if a request of this client would have no slot to wait for now */
  assertRoom(client: string): void {
    if (this.#slots.isFreeFor(client)) return;
    const own = this.#slots.waitingOf(client);
    if (this.waiting < this.#maxWaiting && own < Math.ceil(this.#maxWaiting / 2)) return;
    throw new DomainError(
      'overloaded',
      `${this.running} streams are being made and ${this.waiting} wait, ${own} of them yours, which is as many as this service takes. Try again in a moment.`,
      { retryAfterSeconds },
    );
  }

  /**
   * Waits for a slot.
   * @param client tells one client from another
   * @returns releases the slot; calling it again does nothing
   * @throws DomainError `overloaded` when the queue is full; the signal's reason when it aborts first
   */
  async acquire(client: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    this.assertRoom(client);
    return this.#slots.acquire(client, signal);
  }
}
