import { DomainError } from '@media-services/http-common';

interface Waiting {
  readonly client: string;
  grant(): void;
}

interface SlotsOptions {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

const retryAfterSeconds = 15;

/**
 * Limits how many streams run and how many wait, with a share for every client:
 *
 * - a quarter of the slots is for clients that have nothing running, so that a greedy
 *   client leaves room for a newcomer;
 * - a free slot goes to the client with the fewest streams, and among those to the one that has waited longest;
 * - one client fills at most half of the queue.
 */
export class StreamSlots {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  /** For clients with nothing running. */
  readonly #reserved: number;
  readonly #waiting = new Set<Waiting>();
  readonly #runningOf = new Map<string, number>();
  #running = 0;

  constructor({ maxRunning, maxWaiting }: SlotsOptions) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
    this.#reserved = Math.floor(maxRunning / 4);
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws DomainError `overloaded` when a request of this client that came now would find the queue full. */
  assertRoom(client: string): void {
    if (this.#hasSlotFor(client)) return;
    const own = [...this.#waiting].filter((waiting) => waiting.client === client).length;
    if (this.#waiting.size < this.#maxWaiting && own < Math.ceil(this.#maxWaiting / 2)) return;
    throw new DomainError(
      'overloaded',
      `${this.#running} streams are being made and ${this.#waiting.size} wait, ${own} of them yours, which is as many as this service takes. Try again in a moment.`,
      { retryAfterSeconds },
    );
  }

  /**
   * Waits for a slot.
   *
   * @param client identifies the client
   * @returns a function that releases the slot; calling it again does nothing.
   * @throws DomainError `overloaded` when the queue is full; the signal's reason when it aborts first.
   */
  async acquire(client: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasSlotFor(client)) this.#take(client);
    else {
      this.assertRoom(client);
      await this.#wait(client, signal);
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#release(client);
    };
  }

  #hasSlotFor(client: string): boolean {
    const free = this.#maxRunning - this.#running;
    return free > (this.#runningOf.has(client) ? this.#reserved : 0);
  }

  #take(client: string): void {
    this.#running += 1;
    this.#runningOf.set(client, (this.#runningOf.get(client) ?? 0) + 1);
  }

  #wait(client: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        client,
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

  #release(client: string): void {
    this.#running -= 1;
    const left = (this.#runningOf.get(client) ?? 1) - 1;
    if (left === 0) this.#runningOf.delete(client);
    else this.#runningOf.set(client, left);
    this.#grantNext();
  }

  /** Takes the slot before its owner runs, so that no other request can take it in between. */
  #grantNext(): void {
    const runningOf = ({ client }: Waiting): number => this.#runningOf.get(client) ?? 0;
    const [next] = [...this.#waiting]
      .filter(({ client }) => this.#hasSlotFor(client))
      .toSorted((a, b) => runningOf(a) - runningOf(b));
    if (next === undefined) return;
    this.#waiting.delete(next);
    this.#take(next.client);
    next.grant();
    this.#grantNext();
  }
}
