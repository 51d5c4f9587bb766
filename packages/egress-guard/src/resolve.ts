import { DomainError, untilAborted, withDeadline } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';
import { isMissingName, type LookupFn } from './system-lookup.js';

/** Lookups of one client that run at the same time. A page, its streams and their segments share them. */
const maxRunningPerClient = 16;

/**
 * Bounds the lookups of each client, so that one client's names, which may never resolve,
 * don't keep other clients from theirs. Further lookups of that client wait their turn.
 */
export class LookupLimit {
  readonly #slots = new FairSlots((client, slots) => slots.runningOf(client) < maxRunningPerClient);

  /** @throws what `work` throws; `signal.reason` */
  async run<T>(
    {
      client,
      signal = new AbortController().signal,
    }: { client?: string | undefined; signal?: AbortSignal | undefined },
    work: () => Promise<T>,
  ): Promise<T> {
    if (client === undefined) return work();
    const release = await this.#slots.acquire(client, signal);
    try {
      return await work();
    } finally {
      release();
    }
  }
}

/**
 * All addresses of a name.
 * @returns an empty list when our resolver doesn't know the name
 * @throws DomainError `upstream_timeout` | `upstream_unreachable` when the resolver fails; `signal.reason`
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
