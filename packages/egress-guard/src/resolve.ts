import { DomainError, untilAborted, withDeadline } from '@media-services/http-common';
import { isMissingName, type LookupFn } from './system-lookup.js';

/** Of one client at the same time: a page of many names needs a few. */
const maxLookupsPerClient = 16;

/** Counts the look-ups under way, so that one client's names never keep others from theirs. */
export class LookupLimit {
  readonly #running = new Map<string, number>();

  /** @throws DomainError `overloaded` when the client has too many look-ups under way */
  async run<T>(client: string | undefined, work: () => Promise<T>): Promise<T> {
    if (client === undefined) return work();
    const running = this.#running.get(client) ?? 0;
    if (running >= maxLookupsPerClient) {
      const detail = 'Too many site names are being looked up for you. Wait for your other requests.';
      throw new DomainError('overloaded', detail, { retryAfterSeconds: 5 });
    }
    this.#running.set(client, running + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(client) ?? 1) - 1;
      if (left === 0) this.#running.delete(client);
      else this.#running.set(client, left);
    }
  }
}

/**
 * All addresses of a name.
 * @returns an empty list when the name does not exist here
 * @throws DomainError `upstream_timeout` | `upstream_unreachable` when the resolver does not work; `signal.reason`
 */
export async function resolveName(
  name: string,
  { lookup, timeoutMs, signal }: { lookup: LookupFn; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<readonly string[]> {
  signal?.throwIfAborted();
  try {
    const late = () =>
      new DomainError(
        'upstream_timeout',
        `Looking up the site ${name} took too long. Try again in a moment.`,
      );
    const answers = await withDeadline({ timeoutMs, signal, late }, (ended) =>
      untilAborted(lookup(name, ended), ended),
    );
    return answers.map(({ address }) => address);
  } catch (error) {
    if (isMissingName(error)) return [];
    if (error instanceof DomainError || signal?.aborted) throw error;
    throw new DomainError(
      'upstream_unreachable',
      `The site ${name} could not be looked up. Try again in a moment.`,
      {
        cause: error,
      },
    );
  }
}
