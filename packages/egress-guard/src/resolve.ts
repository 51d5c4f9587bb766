import { lookup as dnsLookup } from 'node:dns/promises';
import { DomainError, errorCode } from '@media-services/http-common';
import { withDeadline } from './deadline.js';

/** Looks a name up; every answer counts. Rejects with the codes of `node:dns`. */
export type LookupFn = (hostname: string) => Promise<readonly { address: string }[]>;

/** The system's resolver: hosts file and DNS, IPv4 and IPv6, in its own order. */
export const systemLookup: LookupFn = (hostname) => dnsLookup(hostname, { all: true, verbatim: true });

/**
 * All addresses of a name.
 * @returns an empty list when the name does not exist here
 * @throws DomainError `upstream_timeout` | `upstream_unreachable` when the resolver does not work; `signal.reason`
 */
export async function resolveName(
  name: string,
  { lookup, timeoutMs, signal }: { lookup: LookupFn; timeoutMs: number; signal: AbortSignal | undefined },
): Promise<readonly string[]> {
  try {
    const late = () =>
      new DomainError(
        'upstream_timeout',
        `Looking up the site ${name} took too long. Try again in a moment.`,
      );
    const answers = await withDeadline(lookup(name), { timeoutMs, signal, late });
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

function isMissingName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(errorCode(error) ?? '');
}
