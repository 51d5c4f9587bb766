import { Claims } from './claims.js';
import { FairQueue, type Waiting } from './fair-queue.js';

interface WaitingForSlot extends Waiting {
  readonly grant: (release: () => void) => void;
}

interface FairSlotsOptions {
  /** Whether the client may take one more slot now. */
  readonly mayRun: (client: string, slots: FairSlots) => boolean;
  /** How many may wait. No limit by default. */
  readonly maxWaiting?: number;
  /** The error for a client that loses its place in a full queue. */
  readonly onFull?: () => Error;
}

/** Slots shared fairly between clients, in the order of a `FairQueue`. */
export class FairSlots {
  readonly #queue: FairQueue<WaitingForSlot>;
  readonly #maxWaiting: number;
  readonly #onFull: () => Error;

  constructor({
    mayRun,
    maxWaiting = Infinity,
    onFull = () => new Error('the queue is full'),
  }: FairSlotsOptions) {
    this.#queue = new FairQueue((client) => mayRun(client, this));
    this.#maxWaiting = maxWaiting;
    this.#onFull = onFull;
  }

  get running(): number {
    return this.#queue.running;
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  runningOf(client: string): number {
    return this.#queue.runningOf(client);
  }

  waitingOf(client: string): number {
    return this.#queue.waitingOf(client);
  }

  /** Whether the client would get a slot at once. */
  isFreeFor(client: string): boolean {
    return this.#queue.mayRun(client);
  }

  /** Whether the client may wait: the queue has room, or somebody who ranks worse makes room. */
  mayWait(client: string): boolean {
    return this.waiting < this.#maxWaiting || this.#queue.isBetterThanSome(client);
  }

  /**
   * Waits for a slot.
   * @returns a function that releases the slot; calling it again does nothing
   * @throws the signal's reason if it aborts first; the error of `onFull` if another client takes its place
   */
  async acquire(client: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const claims = new Claims();
    if (this.isFreeFor(client)) {
      claims.add({ client, reject: () => undefined });
      return this.#take(client, claims);
    }
    return new Promise((resolve, reject) => {
      const entry: WaitingForSlot = {
        claims,
        grant: (release) => {
          signal.removeEventListener('abort', onAbort);
          resolve(release);
        },
      };
      const claim = {
        client,
        reject: (error: Error): void => {
          signal.removeEventListener('abort', onAbort);
          reject(error);
        },
      };
      const onAbort = (): void => {
        this.#queue.remove(entry);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      claims.add(claim);
      this.#queue.add(entry);
      if (this.waiting > this.#maxWaiting) this.#queue.evict(claim, this.#onFull());
    });
  }

  #take(client: string, claims: Claims): () => void {
    const running = this.#queue.start(client, claims);
    return () => {
      running.end();
      this.#grantNext();
    };
  }

  /** We count the slot as taken before its new owner resumes, so nobody else can take it in between. */
  #grantNext(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take())
      next.entry.grant(this.#take(next.client, next.entry.claims));
  }
}
