import { DomainError } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';

export interface FairTurnsOptions {
  /** Maximum number running at the same time. */
  readonly capacity: number;
  /** Maximum number running or waiting; more are rejected. */
  readonly maxHeld: number;
}

/**
 * Shares work between clients, in the order of `FairSlots`. A client may take another slot
 * while it holds fewer than are free (dynamic thresholds, Choudhury and Hahne, 1998). A single
 * client gets about half of all slots, and n greedy clients leave about one in n + 1 free, so a
 * new client always finds one. When all are held, the waiting client whose images take longest makes room.
 */
export class FairTurns {
  readonly #slots: FairSlots;
  readonly #maxHeld: number;

  constructor({ capacity, maxHeld }: FairTurnsOptions) {
    this.#slots = new FairSlots({
      mayRun: (_client, { running }) => running < capacity,
      maxWaiting: Math.max(0, maxHeld - capacity),
      onFull: () => busy(maxHeld),
    });
    this.#maxHeld = maxHeld;
  }

  /** @throws DomainError `overloaded`, or `rate_limited` if this client already has its share */
  assertRoom(client: string): void {
    const free = this.#maxHeld - this.#slots.running - this.#slots.waiting;
    const own = this.#slots.runningOf(client) + this.#slots.waitingOf(client);
    if (free <= 0 && (own > 0 || !this.#slots.mayWait(client))) throw busy(this.#maxHeld);
    if (free > 0 && own >= free) throw clientShareExceeded(own);
  }

  /**
   * Runs `work` in the client's turn.
   * @throws DomainError `overloaded`, `rate_limited`
   * @throws the signal's reason if it aborts before the client's turn
   */
  async run<T>(client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    this.assertRoom(client);
    const release = await this.#slots.acquire(client, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

function busy(maxHeld: number): DomainError {
  return new DomainError('overloaded', `All ${maxHeld} slots are in use. Try again in a few seconds.`, {
    retryAfterSeconds: Math.max(2, 2 * maxHeld),
  });
}

function clientShareExceeded(own: number): DomainError {
  const images = own === 1 ? 'one image' : `${own} images`;
  return new DomainError(
    'rate_limited',
    `This client already has ${images} in the queue, its full share. Send the next image when one is done.`,
    { retryAfterSeconds: 3 },
  );
}
