import { DomainError } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';

export interface FairTurnsOptions {
  /** How many run at the same time. */
  readonly capacity: number;
  /** How many may run or wait; more are rejected. */
  readonly maxHeld: number;
}

/**
 * Shares work between clients, in the order of `FairSlots`. A client may run or wait with one
 * more while it holds fewer than are free (the dynamic thresholds of Choudhury and Hahne,
 * 1998): alone it gets about half of them, n greedy clients leave about one in n + 1, so a
 * newcomer always finds one.
 */
export class FairTurns {
  readonly #slots: FairSlots;
  readonly #maxHeld: number;

  constructor({ capacity, maxHeld }: FairTurnsOptions) {
    this.#slots = new FairSlots((_client, { running }) => running < capacity);
    this.#maxHeld = maxHeld;
  }

  /** @throws DomainError `overloaded`, or `rate_limited` when this client alone holds too many */
  assertRoom(client: string): void {
    const free = this.#maxHeld - this.#slots.running - this.#slots.waiting;
    const own = this.#slots.runningOf(client) + this.#slots.waitingOf(client);
    if (free <= 0) throw busy(this.#maxHeld);
    if (own >= free) throw tooManyOfOneClient(own);
  }

  /**
   * Runs `work` in the client's turn.
   * @throws DomainError `overloaded`, `rate_limited`
   * @throws the signal's reason when it aborts before the turn comes
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

function tooManyOfOneClient(own: number): DomainError {
  const images = own === 1 ? 'one image' : `${own} images`;
  return new DomainError(
    'rate_limited',
    `This client already has ${images} in the queue, its full share. Send the next image when one is done.`,
    { retryAfterSeconds: 3 },
  );
}
