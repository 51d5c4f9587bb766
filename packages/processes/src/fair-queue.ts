export interface Waiting {
  /** The owner, for example a client's IP. */
  readonly client: string;
}

/**
 * Shares turns between clients. The next turn goes to the client with the fewest running
 * entries, on a tie to the one served longest ago. Each client's oldest entry goes first. The
 * caller bounds how many may wait.
 */
export class FairQueue<Entry extends Waiting> {
  /** Oldest first. */
  readonly #entries = new Set<Entry>();
  readonly #mayRun: (client: string, queue: FairQueue<Entry>) => boolean;
  #running = 0;
  readonly #runningOf = new Map<string, number>();
  /** The turn in which each client was last served, for clients with entries running or waiting. */
  readonly #lastServed = new Map<string, number>();
  #turn = 0;

  /** @param mayRun whether the client may run one more entry now */
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

  /** Removes and returns the entry whose turn it is; undefined if no waiting client may run more. */
  take(): Entry | undefined {
    let next: Entry | undefined;
    for (const entry of this.#entries) {
      if (!this.mayRun(entry.client)) continue;
      if (next === undefined || this.#isBefore(entry.client, next.client)) next = entry;
    }
    if (next) this.#entries.delete(next);
    return next;
  }

  /** Counts one more entry as running. @returns a function that ends it; calling it again does nothing */
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
   * Makes room after `newcomer` was added: removes the newest entry of the client with the most
   * waiting entries, or `newcomer` if its own client has as many.
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

interface WaitingForSlot extends Waiting {
  readonly grant: (release: () => void) => void;
}

/** Slots shared fairly between clients, in the order of a `FairQueue`. */
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
   * @returns a function that releases the slot; calling it again does nothing
   * @throws the signal's reason if it aborts first
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

  /** We count the slot as taken before its new owner resumes, so nobody else can take it in between. */
  #grantNext(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take())
      next.grant(this.#take(next.client));
  }
}
