import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.parse>;
type Range = readonly [network: Address, prefixLength: number, kind: string];

/**
 * Addresses that no public media lives at. Sources: IANA special-purpose
 * address registries (RFC 6890 and successors), plus the metadata services of
 * clouds that sit outside those ranges.
 */
const refusedRanges: readonly Range[] = (
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

/** Addresses that stand for IPv4 ones (RFC 6052): all that hosts without IPv4 reach of it. */
const nat64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * Says why an address may not be connected to.
 * @param address IPv4 or IPv6 in any spelling that ipaddr.js reads
 * @returns the kind of range it lies in, or null when it is public
 */
export function refusedRange(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'unreadable';
  const parsed = ipaddr.parse(address);
  if (contains(nat64[0], nat64[1], parsed)) {
    const embedded = refusedRange(parsed.toByteArray().slice(12).join('.'));
    return embedded === null ? null : `${embedded}, through NAT64`;
  }
  for (const [network, prefixLength, kind] of refusedRanges) {
    if (contains(network, prefixLength, parsed)) return kind;
  }
  if (parsed.kind() === 'ipv6' && !contains(globalUnicast[0], globalUnicast[1], parsed)) return 'reserved';
  return null;
}

/** Whether `address` lies in `network/prefixLength`; never across families. */
export function contains(network: Address, prefixLength: number, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, prefixLength);
}
