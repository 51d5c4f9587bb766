import { DomainError } from '@media-services/http-common';
import { LRUCache } from 'lru-cache';

/** Errors that mean the site rejects our IP rather than the page. */
const blockedCodes: ReadonlySet<string> = new Set(['bot_check', 'upstream_rate_limited']);
const maxHosts = 1_000;

/**
 * Chooses the outbound proxy for each site. When a site blocks one, this request and later ones
 * to that site use the next; other sites aren't affected.
 */
export class Exits {
  readonly #count: number;
  readonly #byHost = new LRUCache<string, number>({ max: maxHosts });

  /** @param count number of outbound proxies; 1 without any */
  constructor(count: number) {
    this.#count = count;
  }

  /**
   * @param pinned the only proxy to use, if given
   * @param host of the page
   * @throws what `request` throws
   */
  async through<Result>(
    pinned: number | undefined,
    host: string,
    request: (exit: number) => Promise<Result>,
  ): Promise<{ result: Result; exit: number }> {
    for (let attempt = 1; ; attempt += 1) {
      const exit = pinned ?? this.#byHost.get(host) ?? 0;
      try {
        return { result: await request(exit), exit };
      } catch (error) {
        const isBlocked = error instanceof DomainError && blockedCodes.has(error.code);
        if (!isBlocked || pinned !== undefined) throw error;
        // Another request may have switched already.
        if ((this.#byHost.get(host) ?? 0) === exit) this.#byHost.set(host, (exit + 1) % this.#count);
        if (attempt >= this.#count) throw error;
      }
    }
  }
}
