/** A job that waits for a free engine. */
export interface Ticket<Engine> {
  /** Whose job it is, for example a client's address. */
  readonly client: string;
  readonly start: (engine: Engine) => void;
  readonly refuse: (error: Error) => void;
}

/**
 * At most `capacity` waiting jobs, shared fairly: the next one is the oldest of
 * the client that has the fewest running and was served the longest ago, and
 * when there is no room left, a newcomer takes the place of the newest job of
 * the client that has the most waiting.
 */
export class JobQueue<Engine> {
  readonly #tickets = new Set<Ticket<Engine>>();
  readonly #capacity: number;
  readonly #maxRunningPerClient: number;
  readonly #running = new Map<string, number>();
  /** Turn in which a client was served last; only of clients that have something running or waiting. */
  readonly #lastServed = new Map<string, number>();
  #turn = 0;

  constructor(options: { capacity: number; maxRunningPerClient: number }) {
    this.#capacity = options.capacity;
    this.#maxRunningPerClient = options.maxRunningPerClient;
  }

  get length(): number {
    return this.#tickets.size;
  }

  /** @returns the ticket for which there is no room, perhaps this one */
  add(ticket: Ticket<Engine>): Ticket<Engine> | undefined {
    this.#tickets.add(ticket);
    if (this.#tickets.size <= this.#capacity) return undefined;
    const waiting = new Map<string, number>();
    for (const { client } of this.#tickets) waiting.set(client, (waiting.get(client) ?? 0) + 1);
    const most = Math.max(...waiting.values());
    const own = waiting.get(ticket.client) === most;
    const evicted = own ? ticket : [...this.#tickets].findLast(({ client }) => waiting.get(client) === most);
    if (evicted) this.remove(evicted);
    return evicted;
  }

  remove(ticket: Ticket<Engine>): void {
    this.#tickets.delete(ticket);
    this.#forgetIdle(ticket.client);
  }

  /** Whether a job of the client may start now, if an engine is free. */
  mayRun(client: string): boolean {
    return (this.#running.get(client) ?? 0) < this.#maxRunningPerClient;
  }

  /** Notes that a job of the client runs, until the returned function is called. */
  started(client: string): () => void {
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1);
    this.#lastServed.set(client, ++this.#turn);
    return () => {
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left > 0) this.#running.set(client, left);
      else this.#running.delete(client);
      this.#forgetIdle(client);
    };
  }

  /** Takes out the ticket whose turn it is; none when every waiting client has as many running as it may. */
  take(): Ticket<Engine> | undefined {
    let next: Ticket<Engine> | undefined;
    for (const ticket of this.#tickets) {
      if (!this.mayRun(ticket.client)) continue;
      if (next === undefined || this.#isBefore(ticket.client, next.client)) next = ticket;
    }
    if (next) this.#tickets.delete(next);
    return next;
  }

  refuseAll(error: Error): void {
    const tickets = [...this.#tickets];
    this.#tickets.clear();
    for (const ticket of tickets) {
      this.#forgetIdle(ticket.client);
      ticket.refuse(error);
    }
  }

  #isBefore(left: string, right: string): boolean {
    const running = (this.#running.get(left) ?? 0) - (this.#running.get(right) ?? 0);
    return (running || (this.#lastServed.get(left) ?? 0) - (this.#lastServed.get(right) ?? 0)) < 0;
  }

  #forgetIdle(client: string): void {
    if (this.#running.has(client)) return;
    for (const ticket of this.#tickets) if (ticket.client === client) return;
    this.#lastServed.delete(client);
  }
}
