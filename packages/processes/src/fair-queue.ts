/** Something that waits for its turn. */
export interface Waiting {
  /** Whose it is, for example a client's address. */
  readonly client: string;
}

/**
 * Shares turns between clients. The next turn goes to the client with the fewest running,
 * among those to the one served longest ago, and there to its oldest entry. How many may
 * wait is up to the caller.
 */
export class FairQueue<Entry extends Waiting> {
  /** Oldest first. */
  readonly #entries = new Set<Entry>();
  readonly #mayRun: (client: string, queue: FairQueue<Entry>) => boolean;
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  /** The turn in which a client was served last, for clients with something running or waiting. */
  readonly #lastServed = new Map<string, number>();
  #turn = 0;

  /** @param mayRun whether one more entry of the client may run now */
  constructor(mayRun: (client: string, queue: FairQueue<Entry>) => boolean) {
    this.#mayRun = mayRun;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#entries.size;
  }

  runningOf(client: string): number {
    return this.#runningOf.get(client) ?? 0;
  }

  waitingOf(client: string): number {
    let count = 0;
    for (const entry of this.#entries) if (entry.client === client) count += 1;
    return count;
  }

  mayRun(client: string): boolean {
    return this.#mayRun(client, this);
  }

  add(entry: Entry): void {
    this.#entries.add(entry);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#forgetIdle(entry.client);
  }

  /** Removes the entry whose turn it is; undefined if no waiting client may run more. */
  take(): Entry | undefined {
    let next: Entry | undefined;
    for (const entry of this.#entries) {
      if (!this.mayRun(entry.client)) continue;
      if (next === undefined || this.#isBefore(entry.client, next.client)) next = entry;
    }
    if (next) this.#entries.delete(next);
    return next;
  }

  /** Counts one more as running. @returns ends it; calling it again does nothing */
  start(client: string): () => void {
    this.#count(client, 1);
    this.#lastServed.set(client, ++this.#turn);
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      this.#count(client, -1);
      this.#forgetIdle(client);
    };
  }

  /**
   * Makes room after `newcomer` was added: removes the newest entry of the client that has the
   * most waiting, or `newcomer` if its own client is one of those.
   */
  evict(newcomer: Entry): Entry {
    const waiting = new Map<string, number>();
    for (const { client } of this.#entries) waiting.set(client, (waiting.get(client) ?? 0) + 1);
    const most = Math.max(...waiting.values());
    const own = waiting.get(newcomer.client) === most;
    const newest = [...this.#entries].findLast(({ client }) => waiting.get(client) === most);
    const evicted = own || newest === undefined ? newcomer : newest;
    this.remove(evicted);
    return evicted;
  }

  removeAll(): Entry[] {
    const entries = [...this.#entries];
    this.#entries.clear();
    for (const { client } of entries) this.#forgetIdle(client);
    return entries;
  }

  #isBefore(left: string, right: string): boolean {
    const running = this.runningOf(left) - this.runningOf(right);
    return (running || (this.#lastServed.get(left) ?? 0) - (this.#lastServed.get(right) ?? 0)) < 0;
  }

  #count(client: string, change: 1 | -1): void {
    this.#running += change;
    const count = this.runningOf(client) + change;
    if (count > 0) this.#runningOf.set(client, count);
    else this.#runningOf.delete(client);
  }

  #forgetIdle(client: string): void {
    if (!this.#runningOf.has(client) && this.waitingOf(client) === 0) this.#lastServed.delete(client);
  }
}
