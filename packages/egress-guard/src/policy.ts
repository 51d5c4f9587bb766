import ipaddr from 'ipaddr.js';
import { DomainError } from '@media-services/http-common';
import { refusedRange } from './address-ranges.js';
import type { AllowList } from './allow-list.js';
import { canonicalHost } from './host.js';
import { LookupLimit, resolveName } from './resolve.js';
import type { LookupFn } from './system-lookup.js';

interface PolicyOptions {
  readonly allowed: AllowList;
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

/** Names for this machine or this network, whichever resolver answers (RFC 6761, RFC 6762, RFC 9476). */
const localName = /^(?:[^.]+|.+\.(?:localhost|local|internal|intranet|lan|home\.arpa))\.?$/;

/** Decides which addresses we may connect to. The addresses it looked up and checked are the only ones to use. */
export class AddressPolicy {
  readonly #options: PolicyOptions;
  readonly #lookups = new LookupLimit();

  constructor(options: PolicyOptions) {
    this.#options = options;
  }

  /**
   * Resolves a host and checks every address; one rejected address rejects the host.
   * @param client whose lookups are limited; those without a client are not
   * @throws DomainError `invalid_url` | `forbidden_address` | `upstream_unreachable` | `upstream_timeout`; `signal.reason`
   */
  async check(rawHost: string, port: number, signal?: AbortSignal, client?: string): Promise<CheckedTarget> {
    const { kind, value: host } = canonicalHost(rawHost);
    const { lookup, lookupTimeoutMs: timeoutMs, allowed, behindProxy } = this.#options;
    const answers =
      kind === 'address'
        ? [host]
        : await this.#lookups.run({ client, signal }, () => resolveName(host, { lookup, timeoutMs, signal }));
    if (answers.length === 0) {
      if (behindProxy) return this.#leaveToProxy(host, port);
      throw new DomainError('upstream_unreachable', `The site ${host} does not exist. Check the URL.`);
    }
    const addresses = answers.map(canonicalAddress);
    for (const address of addresses) {
      const range = refusedRange(address);
      if (range !== null && !allowed.allows(host, address, port)) throw forbidden(host, range);
    }
    return { host, port, addresses };
  }

  #leaveToProxy(host: string, port: number): CheckedTarget {
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
    `The URL leads to ${host}, which is not on the public internet (${range}). Only public sites can be read; ` +
      'the operator of this service can allow more with ALLOWED_PRIVATE_SOURCES.',
  );
}
