/** A job that waits for a free engine. */
export interface Ticket<Engine> {
  readonly start: (engine: Engine) => void;
  readonly refuse: (error: Error) => void;
}

/** First in, first out, at most `capacity` waiting. */
export class JobQueue<Engine> {
  readonly #tickets = new Set<Ticket<Engine>>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#tickets.size;
  }

  get isFull(): boolean {
    return this.#tickets.size >= this.#capacity;
  }

  add(ticket: Ticket<Engine>): void {
    this.#tickets.add(ticket);
  }

  remove(ticket: Ticket<Engine>): void {
    this.#tickets.delete(ticket);
  }

  /** Takes the oldest ticket out. */
  take(): Ticket<Engine> | undefined {
    const [ticket] = this.#tickets;
    if (ticket !== undefined) this.#tickets.delete(ticket);
    return ticket;
  }

  refuseAll(error: Error): void {
    for (let ticket = this.take(); ticket !== undefined; ticket = this.take()) ticket.refuse(error);
  }
}
