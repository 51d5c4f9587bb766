/**
 * Reference implementation of a sliding-window limit. Keeps all accepted hits that were not
 * refunded, and accepts a hit if fewer than `limit` of them are younger than the window.
 */
export class Oracle {
  readonly #accepted = new Map<string, number[]>();
  readonly #limit: number;
  readonly #window: number;

  constructor(limit: number, window: number) {
    this.#limit = limit;
    this.#window = window;
  }

  hit(key: string, now: number): { accepted: boolean; hits: number; reset: number } {
    const times = this.#accepted.get(key) ?? [];
    this.#accepted.set(key, times);
    const recent = times.filter((time) => now - time < this.#window);
    const accepted = recent.length < this.#limit;
    if (accepted) times.push(now);
    const counted = accepted ? [...recent, now] : recent;
    return { accepted, hits: counted.length, reset: Math.min(...counted) + this.#window - now };
  }

  refund(key: string, time: number): void {
    const times = this.#accepted.get(key) ?? [];
    times.splice(times.indexOf(time), 1);
  }

  /** The most accepted hits of any key in any window. */
  busiestWindow(): number {
    let most = 0;
    for (const times of this.#accepted.values()) {
      for (const start of times) {
        most = Math.max(most, times.filter((time) => time >= start && time < start + this.#window).length);
      }
    }
    return most;
  }
}
