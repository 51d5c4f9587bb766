import { isIP } from 'node:net';
import { DomainError } from '@media-services/http-common';
import ipaddr from 'ipaddr.js';

/** A host in canonical form: one spelling per address and name. */
export type Host = { readonly kind: 'address' | 'name'; readonly value: string };

/**
 * Converts a host to its canonical form with the WHATWG URL parser, so that `0x7f.1`,
 * `2130706433`, `0177.0.0.1` and `[::FFFF:7f00:1]` are recognised as the addresses they
 * represent.
 * @param host with or without the brackets of an IPv6 literal
 * @throws DomainError `invalid_url` if it is neither a name nor an address
 */
export function canonicalHost(host: string): Host {
  const literal = /^\[.*\]$/.test(host) ? host.slice(1, -1) : host;
  if (isIP(literal) === 6) {
    return { kind: 'address', value: ipaddr.IPv6.parse(stripZone(literal)).toString() };
  }
  const url = /[/?#@\\:]/.test(host) || !URL.canParse(`http://${host}/`) ? null : new URL(`http://${host}/`);
  if (url === null || url.hostname === '') {
    throw new DomainError(
      'invalid_url',
      'The host in the URL is not valid. Check the URL for typing errors.',
    );
  }
  return { kind: isIP(url.hostname) === 4 ? 'address' : 'name', value: url.hostname };
}

/** A URL's port; 80 or 443 if it states none. */
export function portOf({ protocol, port }: { readonly protocol: string; readonly port: string }): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

/** A host as written before `:port`. */
export function hostForAuthority(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function stripZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}

type Address = ReturnType<typeof ipaddr.parse>;
type Range = readonly [network: Address, prefixLength: number, kind: string];

/**
 * Address ranges that are not public. Sources: the IANA special-purpose address registries (RFC
 * 6890 and successors), plus cloud metadata services outside those ranges.
 */
const blockedRanges: readonly Range[] = (
  [
    ['0.0.0.0/8', 'this network'],
    ['10.0.0.0/8', 'private'],
    ['100.64.0.0/10', 'carrier-grade NAT'],
    ['127.0.0.0/8', 'loopback'],
    ['169.254.0.0/16', 'link-local or cloud metadata'],
    ['172.16.0.0/12', 'private'],
    ['192.0.0.0/24', 'protocol assignments'],
    ['192.0.2.0/24', 'documentation'],
    ['192.88.99.0/24', '6to4 relay'],
    ['192.168.0.0/16', 'private'],
    ['198.18.0.0/15', 'benchmarking'],
    ['198.51.100.0/24', 'documentation'],
    ['203.0.113.0/24', 'documentation'],
    ['224.0.0.0/4', 'multicast'],
    ['255.255.255.255/32', 'broadcast'],
    ['240.0.0.0/4', 'reserved'],
    ['168.63.129.16/32', 'cloud metadata'],
    ['::/128', 'unspecified'],
    ['::1/128', 'loopback'],
    ['::/96', 'IPv4-compatible'],
    ['::ffff:0:0/96', 'IPv4-mapped'],
    ['::ffff:0:0:0/96', 'IPv4-translated'],
    ['64:ff9b:1::/48', 'local NAT64'],
    ['100::/64', 'discard'],
    ['2001::/32', 'Teredo'],
    ['2001::/23', 'protocol assignments'],
    ['2001:db8::/32', 'documentation'],
    ['2002::/16', '6to4'],
    ['3fff::/20', 'documentation'],
    ['fc00::/7', 'unique local'],
    ['fe80::/10', 'link-local'],
    ['fec0::/10', 'site-local'],
    ['ff00::/8', 'multicast'],
  ] as const
).map(([cidr, kind]) => [...ipaddr.parseCIDR(cidr), kind] as const);

/** The only IPv6 space that IANA has allocated for global unicast. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Addresses that embed an IPv4 address (RFC 6052), through which IPv6-only hosts reach IPv4. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * Explains why we must not connect to an address.
 * @param address IPv4 or IPv6 in any notation that ipaddr.js parses
 * @returns the kind of range it belongs to, or null if it is public
 */
export function blockedRange(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'unreadable';
  const parsed = ipaddr.parse(address);
  if (contains(nat64[0], nat64[1], parsed)) {
    const embedded = blockedRange(parsed.toByteArray().slice(12).join('.'));
    return embedded === null ? null : `${embedded}, through NAT64`;
  }
  for (const [network, prefixLength, kind] of blockedRanges) {
    if (contains(network, prefixLength, parsed)) return kind;
  }
  if (parsed.kind() === 'ipv6' && !contains(globalUnicast[0], globalUnicast[1], parsed)) return 'reserved';
  return null;
}

/** Whether `address` is in `network/prefixLength`; false for a different address family. */
export function contains(network: Address, prefixLength: number, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength);
}
