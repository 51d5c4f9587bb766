import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { errorCode } from '@media-services/http-common';

/** Looks up all addresses of a name. Rejects with the codes of `node:dns`. Stops when the signal aborts. */
export type LookupFn = (hostname: string, signal?: AbortSignal) => Promise<readonly { address: string }[]>;

interface SystemLookupOptions {
  /** `ip:port` of DNS servers; the system's if absent. */
  readonly servers?: readonly string[] | undefined;
  readonly hostsFile?: string | undefined;
  readonly resolverFile?: string | undefined;
}

/** How long we wait for the other address family once one has answered: some servers drop AAAA queries. */
const otherFamilyTimeoutMs = 2_000;
const attempts = { timeout: 2_000, tries: 3 };

/**
 * Reads the hosts file, then queries DNS for IPv4 and IPv6. `getaddrinfo` would do the same, but
 * it can't be cancelled and occupies one of the process's four threads: four names that never
 * resolve would block every other client.
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
    // These must not be sent to a DNS server (RFC 6761, 6.3).
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

/** Each lookup uses a separate resolver, so that cancelling it cancels no other. */
async function askServers(
  name: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const resolver = new Resolver(attempts);
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  let otherFamilyTimer: NodeJS.Timeout | undefined;
  try {
    const asked = [resolver.resolve4(name), resolver.resolve6(name)] as const;
    Promise.any(asked).then(
      () => (otherFamilyTimer = setTimeout(cancel, otherFamilyTimeoutMs)),
      () => undefined,
    );
    const [v4, v6] = await Promise.allSettled(asked);
    const found = [v4, v6].map((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (hasGlobalIpv6()) found.reverse();
    if (found.flat().length > 0) return found.flat();
    const failures = [v4, v6].flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason as unknown] : [],
    );
    // Report a failed server rather than "no such name", which only the other query established.
    throw failures.find((failure) => !isMissingName(failure)) ?? failures[0];
  } finally {
    clearTimeout(otherFamilyTimer);
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

/** The names to query, in order (resolv.conf(5), `search` and `ndots`). */
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

/** Empty if there is no such file. */
async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
