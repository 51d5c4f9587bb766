import { DomainError } from '@media-services/http-common';
import { LRUCache } from 'lru-cache';

/** Codes by which a site rejects the IP that asks, whatever the page. */
const turnedAwayCodes: ReadonlySet<string> = new Set(['bot_check', 'upstream_rate_limited']);
const maxHosts = 1_000;

/**
 * Which outbound proxy each site is asked through. A site that turns one away is asked through
 * the next, for this page and those after it; other sites stay where they are.
 */
export class Exits {
  readonly #count: number;
  readonly #byHost = new LRUCache<string, number>({ max: maxHosts });

  /** @param count outbound proxies; 1 without any */
  constructor(count: number) {
    this.#count = count;
  }

  /**
   * @param pinned the only proxy to use, if given
   * @param host of the page
   * @throws what `ask` throws
   */
  async through<Result>(
    pinned: number | undefined,
    host: string,
    ask: (exit: number) => Promise<Result>,
  ): Promise<{ result: Result; exit: number }> {
    for (let attempt = 1; ; attempt += 1) {
      const exit = pinned ?? this.#byHost.get(host) ?? 0;
      try {
        return { result: await ask(exit), exit };
      } catch (error) {
        const isTurnedAway = error instanceof DomainError && turnedAwayCodes.has(error.code);
        if (!isTurnedAway || pinned !== undefined) throw error;
        // Another request may have moved on already.
        if ((this.#byHost.get(host) ?? 0) === exit) this.#byHost.set(host, (exit + 1) % this.#count);
        if (attempt >= this.#count) throw error;
      }
    }
  }
}
