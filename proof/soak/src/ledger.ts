/** The responses to the clients of a soak, and their problems. */
export class Ledger {
  readonly problems: string[] = [];
  readonly #startedAt = performance.now();
  /** By kind of client, then by outcome. */
  readonly #outcomes = new Map<string, Map<string, number>>();

  count(kind: string, outcome: string): void {
    const outcomes = this.#outcomes.get(kind) ?? new Map<string, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#outcomes.set(kind, outcomes);
  }

  problem(text: string): void {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1000);
    this.problems.push(`${seconds} s: ${text}`);
  }

  /** Rows of kind, number, and outcomes with the most frequent first. */
  rows(): string[][] {
    return [...this.#outcomes].map(([kind, outcomes]) => {
      const sorted = [...outcomes].toSorted(([, a], [, b]) => b - a);
      const total = sorted.reduce((sum, [, times]) => sum + times, 0);
      return [kind, String(total), sorted.map(([outcome, times]) => `${outcome} ${times}`).join(', ')];
    });
  }

  /** Total number of outcomes. */
  get total(): number {
    const all = [...this.#outcomes.values()].flatMap((outcomes) => [...outcomes.values()]);
    return all.reduce((sum, times) => sum + times, 0);
  }
}
