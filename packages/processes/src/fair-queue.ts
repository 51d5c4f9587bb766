import type { Claim, Claims } from './claims.js';
import { ClientCosts, hogLevel, levelOf, unknownLevel } from './client-costs.js';

export interface Waiting {
  readonly claims: Claims;
}

/** Work that runs. */
export interface Running {
  readonly claims: Claims;
  readonly startedAt: number;
  /** Ends it; calling it again does nothing. @param chargedMs what its clients pay, instead of the time it took */
  end(chargedMs?: number): void;
}

/** An entry that has waited this long moves up one level, until it is too late for it anyway. */
const promotedAfterMs = 2_500;
const lateAfterMs = 5_000;
/** In a longer queue, of clients that rank the same the newest is first: the oldest have waited too long anyway. */
const longQueue = 10;
/** What a client pays for work that had to be interrupted, however short it was. */
export const interruptedMs = 20_000;

/**
 * Shares turns between clients. The next turn goes to the client whose work has taken the least
 * lately, in levels (`ClientCosts`), then to the one with the fewest running entries, on a tie to the
 * one served longest ago. Each client's oldest entry goes first. Entries belong to all who claim them.
 */
export class FairQueue<Entry extends Waiting> {
  /** Oldest first, with the time they joined. */
  readonly #entries = new Map<Entry, number>();
  readonly #mayRun: (client: string, queue: FairQueue<Entry>) => boolean;
  readonly #costs = new ClientCosts();
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
    return this.#waitingByClient().get(client) ?? 0;
  }

  #waitingByClient(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { claims } of this.#entries.keys())
      for (const { client } of claims) counts.set(client, (counts.get(client) ?? 0) + 1);
    return counts;
  }

  mayRun(client: string): boolean {
    return this.#mayRun(client, this);
  }

  add(entry: Entry): void {
    this.#entries.set(entry, performance.now());
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry);
    this.#forgetIdle(entry);
  }

  /** Removes and returns the entry whose turn it is, with the client whose turn it is; undefined if no waiting client may run more. */
  take(): { entry: Entry; client: string } | undefined {
    const next = this.#next();
    if (next) this.#entries.delete(next.entry);
    return next && { entry: next.entry, client: next.client };
  }

  /** Counts one more entry as running for a client. */
  start(client: string, claims: Claims): Running {
    this.#count(client, 1);
    this.#lastServed.set(client, ++this.#turn);
    claims.start();
    const startedAt = performance.now();
    let isRunning = true;
    return {
      claims,
      startedAt,
      end: (chargedMs = performance.now() - startedAt) => {
        if (!isRunning) return;
        isRunning = false;
        this.#count(client, -1);
        for (const sharer of claims.sharers) this.#costs.add(sharer, chargedMs);
        this.#forgetIdle({ claims });
      },
    };
  }

  /**
   * The running work that must make way for the entry whose turn it would be: whoever is known to hold up
   * others, at once; else whatever has run for longer than four seconds, once the other has waited.
   */
  toInterrupt<Work extends Running>(running: Iterable<Work>): Work | undefined {
    const next = this.#next();
    if (next === undefined) return undefined;
    const worst = [...running]
      .map((each) => ({ each, level: this.#levelOfRunning(each) }))
      .sort((left, right) => right.level - left.level || left.each.startedAt - right.each.startedAt)[0];
    if (worst === undefined || worst.level < hogLevel - 1 || next.ownLevel >= worst.level) return undefined;
    return worst.level === hogLevel || next.waitedMs >= promotedAfterMs ? worst.each : undefined;
  }

  /** Whether a waiting claim would make room for one more of the client. */
  isBetterThanSome(client: string): boolean {
    const worst = this.#worst();
    return worst !== undefined && this.#ranking()(worst.claim.client, client);
  }

  /**
   * Makes room after `newcomer` was added: rejects the newest claim of the client that ranks worst, or of
   * the newcomer if it ranks no better.
   * @returns the entry if nobody waits for it any more
   */
  evict(newcomer: Claim, error: Error): Entry | undefined {
    const worst = this.#worst();
    const isOther = worst !== undefined && this.#ranking()(worst.claim.client, newcomer.client);
    const evicted = isOther ? worst.claim : newcomer;
    const entry = [...this.#entries.keys()].find(({ claims }) => [...claims].includes(evicted));
    evicted.reject(error);
    if (entry === undefined || entry.claims.size > 1) return undefined;
    this.remove(entry);
    return entry;
  }

  removeAll(): Entry[] {
    const entries = [...this.#entries.keys()];
    this.#entries.clear();
    for (const entry of entries) this.#forgetIdle(entry);
    return entries;
  }

  #next() {
    const now = performance.now();
    const waiting = this.#waitingByClient();
    let best: { entry: Entry; client: string; level: number; ownLevel: number; waitedMs: number } | undefined;
    for (const [entry, since] of this.#entries) {
      const waitedMs = now - since;
      const isPromoted = waitedMs >= promotedAfterMs && waitedMs < lateAfterMs;
      for (const { client } of entry.claims) {
        if (!this.mayRun(client)) continue;
        const ownLevel = this.#levelOf(client, waiting);
        const level = isPromoted && ownLevel > 0 && ownLevel < hogLevel ? ownLevel - 1 : ownLevel;
        const candidate = { entry, client, level, ownLevel, waitedMs };
        if (best === undefined || this.#order(candidate, best) < 0) best = candidate;
      }
    }
    return best;
  }

  /** Negative if `left`, the newer one, is first. */
  #order(
    left: { readonly client: string; readonly level: number },
    right: { readonly client: string; readonly level: number },
  ): number {
    return (
      left.level - right.level ||
      this.runningOf(left.client) - this.runningOf(right.client) ||
      (this.#lastServed.get(left.client) ?? 0) - (this.#lastServed.get(right.client) ?? 0) ||
      (left.client !== right.client && this.waiting > longQueue ? -1 : 0)
    );
  }

  #levelOfRunning({ claims, startedAt }: Running): number {
    const isForHogs = [...claims].every(({ client }) => this.#costs.levelOf(client) === hogLevel);
    return isForHogs ? hogLevel : levelOf(performance.now() - startedAt);
  }

  /** A client with several requests at once ranks no better than a new one. */
  #levelOf(client: string, waiting: ReadonlyMap<string, number>): number {
    const isModest = this.runningOf(client) + (waiting.get(client) ?? 0) <= 1;
    return Math.max(this.#costs.levelOf(client), isModest ? 0 : unknownLevel);
  }

  /** The newest claim of the client that ranks worst. */
  #worst(): { claim: Claim } | undefined {
    const isWorse = this.#ranking();
    let worst: { claim: Claim } | undefined;
    for (const { claims } of this.#entries.keys()) {
      for (const claim of claims) {
        if (worst === undefined || !isWorse(worst.claim.client, claim.client)) worst = { claim };
      }
    }
    return worst;
  }

  /** Compares clients by level, then by the number of waiting claims. */
  #ranking(): (left: string, right: string) => boolean {
    const waiting = this.#waitingByClient();
    return (left, right) => {
      const levels = this.#levelOf(left, waiting) - this.#levelOf(right, waiting);
      return (levels || (waiting.get(left) ?? 0) - (waiting.get(right) ?? 0)) > 0;
    };
  }

  #count(client: string, change: 1 | -1): void {
    this.#running += change;
    const count = this.runningOf(client) + change;
    if (count > 0) this.#runningOf.set(client, count);
    else this.#runningOf.delete(client);
  }

  #forgetIdle({ claims }: Waiting): void {
    for (const client of new Set([...claims.sharers, ...[...claims].map((claim) => claim.client)])) {
      if (!this.#runningOf.has(client) && this.waitingOf(client) === 0) this.#lastServed.delete(client);
    }
  }
}
