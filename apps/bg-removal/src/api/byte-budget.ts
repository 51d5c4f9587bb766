import { DomainError } from '@media-services/http-common';

interface Hold {
  readonly client: string;
  readonly bytes: number;
  readonly onReclaimed: () => void;
}

/**
 * Bounds the bytes in memory of transfers whose speed depends on the client. If a new transfer
 * does not fit, we abort the oldest transfer of the client that holds the most bytes, so slow
 * clients never block others.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #holds = new Set<Hold>();
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Runs a transfer that keeps `bytes` in memory. Its signal aborts with `overloaded` if
   * another client needs the bytes. A transfer larger than the budget gets the whole budget.
   */
  async run<T>(
    client: string,
    bytes: number,
    signal: AbortSignal,
    transfer: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const reclaimed = new AbortController();
    const hold: Hold = { client, bytes, onReclaimed: () => reclaimed.abort(tooSlowError()) };
    this.#holds.add(hold);
    this.#heldBytes += bytes;
    while (this.#heldBytes > this.#maxBytes && this.#holds.size > 1) this.#reclaim(hold);
    try {
      return await transfer(AbortSignal.any([signal, reclaimed.signal]));
    } finally {
      this.#release(hold);
    }
  }

  #reclaim(newest: Hold): void {
    const heldBy = new Map<string, number>();
    for (const { client, bytes } of this.#holds) heldBy.set(client, (heldBy.get(client) ?? 0) + bytes);
    let victim: Hold | undefined;
    for (const hold of this.#holds) {
      if (hold === newest) continue;
      if (victim === undefined || (heldBy.get(hold.client) ?? 0) > (heldBy.get(victim.client) ?? 0))
        victim = hold;
    }
    if (victim === undefined) return;
    this.#release(victim);
    victim.onReclaimed();
  }

  #release(hold: Hold): void {
    if (this.#holds.delete(hold)) this.#heldBytes -= hold.bytes;
  }
}

function tooSlowError(): DomainError {
  return new DomainError(
    'overloaded',
    'The connection was too slow while other clients waited. Try again with a faster one, or with a smaller image.',
    { retryAfterSeconds: 10 },
  );
}
