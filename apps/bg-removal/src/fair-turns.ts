import { DomainError } from '@media-services/http-common';

interface Waiting {
  readonly begin: () => void;
}

export interface FairTurnsOptions {
  /** How many run at the same time. */
  readonly capacity: number;
  /** How many may run or wait; beyond that, new work is rejected. */
  readonly places: number;
}

/**
 * Shares work between clients. A free turn goes to the waiting client with the fewest
 * running and, among those, to the one whose last turn is longest ago. A client gets a
 * place while it holds fewer than are free (the dynamic thresholds of Choudhury and
 * Hahne, 1998): alone it gets about half of them, n greedy clients leave about one in
 * n + 1, so a newcomer always finds one.
 */
export class FairTurns {
  readonly #capacity: number;
  readonly #places: number;
  #running = 0;
  #held = 0;
  readonly #runningOf = new Map<string, number>();
  readonly #heldBy = new Map<string, number>();
  /** Clients that wait, the one with the oldest turn first; each with its own work in order. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ capacity, places }: FairTurnsOptions) {
    this.#capacity = capacity;
    this.#places = places;
  }

  /** @throws DomainError `overloaded`, or `rate_limited` when this client alone holds too many places */
  assertRoom(client: string): void {
    const free = this.#places - this.#held;
    const own = this.#heldBy.get(client) ?? 0;
    if (free <= 0) throw busy(this.#places);
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
    this.#held += add(this.#heldBy, client, 1);
    try {
      await this.#begin(client, signal);
      try {
        return await work();
      } finally {
        this.#end(client);
      }
    } finally {
      this.#held += add(this.#heldBy, client, -1);
    }
  }

  async #begin(client: string, signal: AbortSignal): Promise<void> {
    if (this.#running < this.#capacity) {
      this.#running += add(this.#runningOf, client, 1);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const waiting: Waiting = {
        begin: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#remove(client, waiting);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.set(client, [...(this.#waiting.get(client) ?? []), waiting]);
    });
  }

  #end(client: string): void {
    this.#running += add(this.#runningOf, client, -1);
    const next = this.#nextClient();
    if (next === undefined) return;
    const [first, ...others] = this.#waiting.get(next) ?? [];
    // Re-inserting puts the client behind all others that wait.
    this.#waiting.delete(next);
    if (others.length > 0) this.#waiting.set(next, others);
    this.#running += add(this.#runningOf, next, 1);
    first?.begin();
  }

  #nextClient(): string | undefined {
    let next: string | undefined;
    let fewest = Infinity;
    for (const client of this.#waiting.keys()) {
      const running = this.#runningOf.get(client) ?? 0;
      if (running < fewest) [next, fewest] = [client, running];
    }
    return next;
  }

  #remove(client: string, waiting: Waiting): void {
    const others = (this.#waiting.get(client) ?? []).filter((other) => other !== waiting);
    if (others.length > 0) this.#waiting.set(client, others);
    else this.#waiting.delete(client);
  }
}

/** Changes a client's count, forgetting clients without any; returns the change. */
function add(counts: Map<string, number>, client: string, change: 1 | -1): number {
  const count = (counts.get(client) ?? 0) + change;
  if (count > 0) counts.set(client, count);
  else counts.delete(client);
  return change;
}

function busy(places: number): DomainError {
  return new DomainError('overloaded', `All ${places} slots are in use. Try again in a few seconds.`, {
    retryAfterSeconds: Math.max(2, 2 * places),
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
