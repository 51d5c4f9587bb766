import { DomainError, untilAborted, withDeadline } from '@media-services/http-common';
import { FairSlots } from '@media-services/processes';
import ipaddr from 'ipaddr.js';
import type { AllowList } from './allow-list.js';
import { canonicalHost, blockedRange } from './host.js';
import type { OwnAddresses } from './own-addresses.js';
import { isMissingName, type LookupFn } from './system-lookup.js';

interface PolicyOptions {
  readonly allowed: AllowList;
  readonly own: OwnAddresses;
  readonly lookup: LookupFn;
  readonly lookupTimeoutMs: number;
  /** A proxy resolves names that our resolver doesn't know. */
  readonly behindProxy: boolean;
}

/** A target that passed the check: connect to these addresses and no others. */
export interface CheckedTarget {
  readonly host: string;
  readonly port: number;
  /** Canonical addresses; behind a proxy, the bare name when only the proxy can resolve it. */
  readonly addresses: readonly string[];
}

/** Names of this machine or network, whatever a resolver returns (RFC 6761, RFC 6762, RFC 9476). */
const localName = /^(?:[^.]+|.+\.(?:localhost|local|internal|intranet|lan|home\.arpa))\.?$/;

/** Decides which addresses we may connect to. Callers must use only the addresses it returns. */
export class AddressPolicy {
  readonly #options: PolicyOptions;
  readonly #lookups = new LookupLimit();

  constructor(options: PolicyOptions) {
    this.#options = options;
  }

  /**
   * Resolves a host and checks every address; one rejected address rejects the host.
   * @param client whose lookups are limited; without a client there is no limit
   * @throws DomainError `invalid_url` | `forbidden_address` | `upstream_unreachable` | `upstream_timeout`; `signal.reason`
   */
  async check(rawHost: string, port: number, signal?: AbortSignal, client?: string): Promise<CheckedTarget> {
    const { kind, value: host } = canonicalHost(rawHost);
    const { lookup, lookupTimeoutMs: timeoutMs, allowed, behindProxy } = this.#options;
    const resolved =
      kind === 'address'
        ? [host]
        : await this.#lookups.run({ client, signal }, () => resolveName(host, { lookup, timeoutMs, signal }));
    if (resolved.length === 0) {
      if (behindProxy) return this.#deferToProxy(host, port);
      // As if it existed, so that nobody learns which names of this network do.
      if (localName.test(host)) throw forbidden(host, 'local name');
      throw new DomainError('upstream_unreachable', `The site ${host} does not exist. Check the URL.`);
    }
    const addresses = resolved.map(canonicalAddress);
    for (const address of addresses) {
      const range = blockedRange(address) ?? this.#options.own.reasonFor(address);
      if (range !== null && !allowed.allows(host, address, port))
        throw forbidden(host, localName.test(host) && kind === 'name' ? 'local name' : range);
    }
    return { host, port, addresses };
  }

  #deferToProxy(host: string, port: number): CheckedTarget {
    if (localName.test(host) && !this.#options.allowed.allows(host, null, port))
      throw forbidden(host, 'local name');
    return { host, port, addresses: [host] };
  }
}

function canonicalAddress(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.parse(address.split('%', 1)[0] ?? '').toString() : address;
}

function forbidden(host: string, range: string): DomainError {
  return new DomainError(
    'forbidden_address',
    `The URL leads to ${host}, which is not on the public internet (${range}). Only public sites are allowed; ` +
      'the operator of this service can allow others with ALLOWED_PRIVATE_SOURCES.',
  );
}

/** Lookups of one client that run at the same time. A page, its streams and their segments share them. */
const maxRunningPerClient = 16;

/**
 * Limits the concurrent lookups of each client, so that one client's names, which may never
 * resolve, can't block other clients. Further lookups of that client wait.
 */
class LookupLimit {
  readonly #slots = new FairSlots({
    mayRun: (client, slots) => slots.runningOf(client) < maxRunningPerClient,
  });

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
 * Resolves all addresses of a name.
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
