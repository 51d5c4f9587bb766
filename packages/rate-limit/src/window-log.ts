/** At most `limit` hits in any window of `windowMs` milliseconds. */
export interface WindowLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** What became of one hit. */
export interface Hit {
  readonly accepted: boolean;
  /** Accepted hits in the window that ends now, this one included. */
  readonly hits: number;
  /** Milliseconds until the oldest of them leaves the window, when there is room for one more. */
  readonly resetMs: number;
}

/**
 * A sliding-window log in memory: the times of the accepted hits of each key.
 * Refused hits are not kept, so that a client that goes on trying is let in as
 * soon as there is room. A hit leaves the window exactly `windowMs` after it.
 * The number of keys is bounded: when it is reached, the key that was quiet for
 * longest is forgotten.
 */
export class WindowLog {
  readonly #limit: WindowLimit;
  readonly #maxKeys: number;
  /** In order of the last accepted hit. */
  readonly #times = new Map<string, number[]>();

  constructor(limit: WindowLimit, maxKeys = 100_000) {
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#times.size;
  }

  /** @param nowMs milliseconds on a clock that never goes back */
  hit(key: string, nowMs: number): Hit {
    const current = this.peek(key, nowMs);
    if (!current.accepted) return current;
    this.record(key, nowMs);
    return { ...current, resetMs: current.hits === 1 ? this.#limit.windowMs : current.resetMs };
  }

  /** What {@link hit} would answer, without the hit. */
  peek(key: string, nowMs: number): Hit {
    const { limit, windowMs } = this.#limit;
    const times = this.#live(key, nowMs);
    const accepted = times.length < limit;
    const oldest = times[0] ?? nowMs;
    return { accepted, hits: times.length + (accepted ? 1 : 0), resetMs: oldest + windowMs - nowMs };
  }

  /** Adds a hit that was accepted elsewhere. */
  record(key: string, nowMs: number): void {
    const times = this.#live(key, nowMs);
    this.#times.delete(key);
    this.#times.set(key, [...times, nowMs].slice(-this.#limit.limit));
    this.#forgetQuietKeys(nowMs);
  }

  /** Takes a hit back, by the time that it was counted at, as if it had never been. */
  giveBack(key: string, atMs: number): void {
    const times = this.#times.get(key);
    const at = times?.indexOf(atMs) ?? -1;
    if (times === undefined || at < 0) return;
    times.splice(at, 1);
    if (times.length === 0) this.#times.delete(key);
  }

  forget(key: string): void {
    this.#times.delete(key);
  }

  #live(key: string, nowMs: number): number[] {
    return (this.#times.get(key) ?? []).filter((time) => time > nowMs - this.#limit.windowMs);
  }

  #forgetQuietKeys(nowMs: number): void {
    for (const [key, times] of this.#times) {
      const quiet = (times.at(-1) ?? 0) <= nowMs - this.#limit.windowMs;
      if (!quiet && this.#times.size <= this.#maxKeys) return;
      this.#times.delete(key);
    }
  }
}
