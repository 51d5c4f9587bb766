import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { errorCode } from '@media-services/http-common';

/** Looks a name up; every answer counts. Rejects with the codes of `node:dns`. Stops asking when the signal aborts. */
export type LookupFn = (hostname: string, signal?: AbortSignal) => Promise<readonly { address: string }[]>;

interface SystemLookupOptions {
  /** `ip:port` of DNS servers; those of the system unless given. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
  readonly resolverFile?: string | undefined;
}

/** A server that answers for one family and drops the other holds nobody up for longer than this. */
const otherFamilyMs = 2_000;
const attempts = { timeout: 2_000, tries: 3 };

/**
 * The hosts file, then DNS, IPv4 and IPv6. `getaddrinfo` would do the same, but cannot be
 * cancelled and takes one of the four threads that the whole process has: names that
 * never resolve would lock everybody out.
 */
export function createSystemLookup({
  servers,
  hostsFile = '/etc/hosts',
  resolverFile = '/etc/resolv.conf',
}: SystemLookupOptions = {}): LookupFn {
  return async (hostname, signal) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const listed = addressesIn(await textOf(hostsFile), name);
    if (listed.length > 0) return listed.map((address) => ({ address }));
    // No DNS server is to be asked for these (RFC 6761, 6.3).
    if (name === 'localhost' || name.endsWith('.localhost'))
      return [{ address: '127.0.0.1' }, { address: '::1' }];
    const candidates = hostname.endsWith('.') ? [name] : searchNames(await textOf(resolverFile), name);
    let failure: unknown;
    for (const candidate of candidates) {
      signal?.throwIfAborted();
      try {
        return (await askServers(candidate, servers, signal)).map((address) => ({ address }));
      } catch (error) {
        if (!isMissingName(error)) throw error;
        failure = error;
      }
    }
    throw failure;
  };
}

export function isMissingName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(errorCode(error) ?? '');
}

/** Each look-up has a resolver of its own, so that cancelling it cancels no other. */
async function askServers(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const resolver = new Resolver(attempts);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  let patience: NodeJS.Timeout | undefined;
  try {
    const asked = [resolver.resolve4(name), resolver.resolve6(name)] as const;
    Promise.any(asked).then(
      () => (patience = setTimeout(cancel, otherFamilyMs)),
      () => undefined,
    );
    const [v4, v6] = await Promise.allSettled(asked);
    const found = [v4, v6].map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (hasGlobalIpv6()) found.reverse();
    if (found.flat().length > 0) return found.flat();
    const failures = [v4, v6].flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason as unknown] : [],
    );
    // A server that failed says less about the name than one that answered.
    throw failures.find((failure) => !isMissingName(failure)) ?? failures[0];
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener('abort', cancel);
  }
}

/** hosts(5) */
function addressesIn(hosts: string, name: string): string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().toLowerCase().split(/\s+/);
    return names.includes(name) && isIP(address.split('%', 1)[0] ?? '') !== 0 ? [address] : [];
  });
}

/** What to ask for, in order (resolv.conf(5), `search` and `ndots`). */
function searchNames(resolverText: string, name: string): string[] {
  let domains: string[] = [];
  let dots = 1;
  for (const line of resolverText.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') domains = values;
    if (keyword !== 'options') continue;
    for (const value of values) {
      const count = /^ndots:(\d{1,2})$/.exec(value)?.[1];
      if (count !== undefined) dots = Number(count);
    }
  }
  const searched = domains.slice(0, 6).map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  return name.split('.').length > dots ? [name, ...searched] : [...searched, name];
}

function hasGlobalIpv6(): boolean {
  return Object.values(networkInterfaces())
    .flat()
    .some((found) => found?.family === 'IPv6' && !found.internal && !/^fe[89ab]/.test(found.address));
}

/** Empty where there is no such file. */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
