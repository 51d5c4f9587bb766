interface Waiting {
  readonly begin: () => void;
}

/**
 * Gives clients their turns at something of which only `capacity` can run at once:
 * a free turn goes to the waiting client that has the fewest running and, among
 * those, had its last turn longest ago. Who sends many images waits behind its own.
 */
export class FairTurns {
  readonly #capacity: number;
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  /** Clients that wait, the one whose turn is longest ago first; each with its own in order. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Runs `work` in the client's turn.
   * @throws the signal's reason when it comes before the turn does
   */
  async run<T>(client: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#begin(client, signal);
    try {
      return await work();
    } finally {
      this.#end(client);
    }
  }

  async #begin(client: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#capacity) {
      this.#count(client, 1);
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
    this.#count(client, -1);
    const next = this.#nextClient();
    if (next === undefined) return;
    const [first, ...others] = this.#waiting.get(next) ?? [];
    // To the end of the order, behind all others that wait.
    this.#waiting.delete(next);
    if (others.length > 0) this.#waiting.set(next, others);
    this.#count(next, 1);
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

  #count(client: string, change: 1 | -1): void {
    this.#running += change;
    const running = (this.#runningOf.get(client) ?? 0) + change;
    if (running > 0) this.#runningOf.set(client, running);
    else this.#runningOf.delete(client);
  }

  #remove(client: string, waiting: Waiting): void {
    const others = (this.#waiting.get(client) ?? []).filter((other) => other !== waiting);
    if (others.length > 0) this.#waiting.set(client, others);
    else this.#waiting.delete(client);
  }
}
