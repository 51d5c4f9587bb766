import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { contains } from './host.js';

/** An interface may appear while we run. */
const maxAgeMs = 1_000;

/** Addresses that are public on paper, but belong to this machine or to what the operator protects. */
export class OwnAddresses {
  readonly #blocked: readonly ReturnType<typeof ipaddr.parseCIDR>[];
  #addresses: ReadonlySet<string> = new Set();
  #readAt = -Infinity;

  /** @throws TypeError naming the first invalid entry of `blocked` */
  constructor(blocked: readonly string[]) {
    this.#blocked = blocked.map(parseNetwork);
  }

  /**
   * @param address IPv4 or IPv6 in any notation that ipaddr.js parses
   * @returns why we must not connect to it, or null
   */
  reasonFor(address: string): string | null {
    if (!ipaddr.isValid(address)) return null;
    const parsed = ipaddr.parse(address);
    const embedded = embeddedIpv4(parsed);
    if (embedded !== null) return this.reasonFor(embedded);
    if (this.#current().has(parsed.toString())) return "the server's own";
    const isBlocked = this.#blocked.some(([network, prefix]) => contains(network, prefix, parsed));
    return isBlocked ? 'blocked by the operator' : null;
  }

  #current(): ReadonlySet<string> {
    const now = performance.now();
    if (now - this.#readAt > maxAgeMs) {
      this.#readAt = now;
      this.#addresses = new Set(
        Object.values(networkInterfaces()).flatMap((found = []) =>
          found.map(({ address }) => ipaddr.parse(address.split('%', 1)[0] ?? '').toString()),
        ),
      );
    }
    return this.#addresses;
  }
}

/**
 * @param entry a CIDR or an address
 * @throws TypeError showing the entry and the supported format
 */
export function parseNetwork(entry: string): ReturnType<typeof ipaddr.parseCIDR> {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (ipaddr.IPv6.isValid(entry) || ipaddr.IPv4.isValidFourPartDecimal(entry)) {
    const address = ipaddr.parse(entry);
    return [address, address.toByteArray().length * 8];
  }
  throw new TypeError(`"${entry}" is neither an IP address nor a CIDR such as 198.51.100.0/24`);
}

/** NAT64 (RFC 6052) leads to the IPv4 address in its last 4 bytes. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

function embeddedIpv4(address: ReturnType<typeof ipaddr.parse>): string | null {
  return contains(nat64[0], nat64[1], address) ? address.toByteArray().slice(12).join('.') : null;
}
