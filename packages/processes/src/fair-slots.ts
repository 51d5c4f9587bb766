import { FairQueue, type Waiting } from './fair-queue.js';

interface WaitingForSlot extends Waiting {
  readonly grant: (release: () => void) => void;
}

/** Slots that are shared fairly between clients, in the order of a `FairQueue`. */
export class FairSlots {
  readonly #queue: FairQueue<WaitingForSlot>;

  /** @param mayRun whether the client may take one more slot now */
  constructor(mayRun: (client: string, slots: FairSlots) => boolean) {
    this.#queue = new FairQueue((client) => mayRun(client, this));
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

  /**
   * Waits for a slot.
   * @returns releases the slot; calling it again does nothing
   * @throws the signal's reason when it aborts first
   */
  async acquire(client: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.isFreeFor(client)) return this.#take(client);
    return new Promise((resolve, reject) => {
      const entry: WaitingForSlot = {
        client,
        grant: (release) => {
          signal.removeEventListener('abort', onAbort);
          resolve(release);
        },
      };
      const onAbort = (): void => {
        this.#queue.remove(entry);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(entry);
    });
  }

  #take(client: string): () => void {
    const end = this.#queue.start(client);
    return () => {
      end();
      this.#grantNext();
    };
  }

  /** A slot is taken before its owner knows, so nobody can come in between. */
  #grantNext(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take())
      next.grant(this.#take(next.client));
  }
}
