/** One caller that waits for a piece of work. */
export interface Claim {
  readonly client: string;
  /** Ends this caller's wait, but not the work. */
  readonly reject: (error: Error) => void;
}

/** Everyone who waits for one piece of work. It belongs to all of them, and ranks as the best-placed one. */
export class Claims implements Iterable<Claim> {
  readonly #claims = new Set<Claim>();
  /** Clients that have taken part since the work started. */
  readonly #sharers = new Set<string>();
  #hasStarted = false;
  /** The claims of work that one client waits for, whose result reports everything. */
  static of(client: string): Claims {
    const claims = new Claims();
    claims.add({ client, reject: () => undefined });
    return claims;
  }

  /** Called when somebody joins. */
  onJoin: () => void = () => undefined;

  get size(): number {
    return this.#claims.size;
  }

  /** Whether the work has left the queue. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  [Symbol.iterator](): Iterator<Claim> {
    return this.#claims.values();
  }

  /** @returns a function that ends the claim; calling it again does nothing */
  add(claim: Claim): () => void {
    this.#claims.add(claim);
    if (this.#hasStarted) this.#sharers.add(claim.client);
    this.onJoin();
    return () => void this.#claims.delete(claim);
  }

  start(): void {
    this.#hasStarted = true;
    for (const { client } of this.#claims) this.#sharers.add(client);
  }

  /** The clients that the work was done for, including those who have left. */
  get sharers(): Iterable<string> {
    return this.#sharers;
  }
}
