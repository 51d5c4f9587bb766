/** At most `limit` hits in any window of `windowMs` milliseconds. */
export interface WindowLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** The decision on one hit. */
export interface Hit {
  readonly accepted: boolean;
  /** Accepted hits in the window that ends now, including this one. */
  readonly hits: number;
  /** Milliseconds until the oldest of them leaves the window or, after a rejection, until there is room for one more. */
  readonly resetMs: number;
}

/** A hit with the time at which a shared store counted it. */
export interface StoredHit extends Hit {
  readonly atMicroseconds: number;
}

/** Where hits are counted now: `degraded` while the shared store is unavailable. */
export interface WindowLogStatus {
  readonly status: 'ok' | 'degraded';
  /** The name of the store. */
  readonly store: string;
  /** While degraded: the last error of the shared store, without URLs and credentials. */
  readonly reason?: string;
}

/** A sliding-window log that several replicas share. One serves every limit of a service. */
export interface WindowLogStore extends AsyncDisposable {
  /** Whether a hit can be counted now. */
  readonly isReady: boolean;
  status(): WindowLogStatus;
  /** @throws Error when the store is unavailable, which {@link status} then reports */
  hit(key: string, limit: WindowLimit): Promise<StoredHit>;
  /** Removes a hit, given the time at which it was counted. {@link status} reports a failure. */
  refund(key: string, atMicroseconds: number): Promise<void>;
  forget(key: string): Promise<void>;
}

/** The status of a process that counts on its own, as configured. */
export const inMemory: WindowLogStatus = { status: 'ok', store: 'memory' };

/**
 * A sliding-window log in memory: the times of each key's accepted hits. Each hit states its
 * limit, so a key whose limit changes keeps its hits. Rejected hits are not kept, so a client that
 * keeps trying is accepted as soon as there is room. A hit leaves the window after exactly
 * `windowMs`. The number of keys is bounded: above the limit, we drop the key whose last hit is
 * oldest.
 */
export class WindowLog {
  readonly #windowMs: number;
  readonly #maxKeys: number;
  /** Ordered by the last accepted hit. */
  readonly #times = new Map<string, number[]>();

  constructor(windowMs: number, maxKeys = 100_000) {
    this.#windowMs = windowMs;
    this.#maxKeys = maxKeys;
  }

  /** Number of keys in memory. */
  get size(): number {
    return this.#times.size;
  }

  /** @param nowMs milliseconds on a monotonic clock */
  hit(key: string, limit: number, nowMs: number): Hit {
    const current = this.peek(key, limit, nowMs);
    if (!current.accepted) return current;
    this.record(key, nowMs);
    return { ...current, resetMs: current.hits === 1 ? this.#windowMs : current.resetMs };
  }

  /** Returns what {@link hit} would return, without counting. */
  peek(key: string, limit: number, nowMs: number): Hit {
    const times = this.#live(key, nowMs);
    const accepted = times.length < limit;
    // With a lowered limit, several hits must leave before there is room.
    const next = times[accepted ? 0 : times.length - limit] ?? nowMs;
    return { accepted, hits: times.length + (accepted ? 1 : 0), resetMs: next + this.#windowMs - nowMs };
  }

  /** Adds a hit that was accepted elsewhere. */
  record(key: string, nowMs: number): void {
    const times = this.#live(key, nowMs);
    this.#times.delete(key);
    this.#times.set(key, [...times, nowMs]);
    this.#dropIdleKeys(nowMs);
  }

  /** Removes a hit, given the time at which it was counted. */
  refund(key: string, atMs: number): void {
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
    return (this.#times.get(key) ?? []).filter((time) => time > nowMs - this.#windowMs);
  }

  #dropIdleKeys(nowMs: number): void {
    for (const [key, times] of this.#times) {
      const isIdle = (times.at(-1) ?? 0) <= nowMs - this.#windowMs;
      if (!isIdle && this.#times.size <= this.#maxKeys) return;
      this.#times.delete(key);
    }
  }
}
