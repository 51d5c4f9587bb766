/**
 * Upper limits of the levels 0, 1 and 2 in milliseconds; whatever takes longer has level 3. An
 * ordinary page takes less than two seconds, one that needs JavaScript about four.
 */
const levelLimitsMs = [2_000, 4_000, 15_000];
/** The level of a client that holds up all others. */
export const hogLevel = levelLimitsMs.length;
/** The level of a client without recent jobs. */
export const unknownLevel = 1;
/** How much the last job counts. */
const weight = 0.25;
const forgetAfterMs = 600_000;
const maxClients = 10_000;

/** The level of something that takes so long: 0 is the best. */
export function levelOf(ms: number): number {
  return levelLimitsMs.filter((limit) => ms > limit).length;
}

/** What each client's jobs have taken lately, as a moving average. */
export class ClientCosts {
  readonly #known = new Map<string, { averageMs: number; at: number }>();

  /** What to expect of the client's next job. */
  levelOf(client: string): number {
    const known = this.#known.get(client);
    if (known === undefined || performance.now() - known.at > forgetAfterMs) return unknownLevel;
    return levelOf(known.averageMs);
  }

  add(client: string, ms: number): void {
    const averageMs = this.#known.get(client)?.averageMs ?? ms;
    this.#known.delete(client);
    this.#known.set(client, { averageMs: averageMs + (ms - averageMs) * weight, at: performance.now() });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxClients) break;
      this.#known.delete(oldest);
    }
  }
}
