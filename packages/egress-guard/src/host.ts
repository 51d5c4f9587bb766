import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { DomainError } from '@media-services/http-common';

/** A host as the rest of the guard sees it: one spelling per address and name. */
export type Host = { readonly kind: 'address' | 'name'; readonly value: string };

/**
 * Brings a host to its one canonical spelling with the WHATWG URL parser, so
 * that `0x7f.1`, `2130706433`, `0177.0.0.1` and `[::FFFF:7f00:1]` are seen as
 * the addresses they mean.
 * @param host with or without the brackets of an IPv6 literal
 * @throws DomainError `invalid_url` when it is neither a name nor an address
 */
export function canonicalHost(host: string): Host {
  const literal = /^\[.*\]$/.test(host) ? host.slice(1, -1) : host;
  if (isIP(literal) === 6) {
    return { kind: 'address', value: ipaddr.IPv6.parse(withoutZone(literal)).toString() };
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

/** A host as it is written in front of `:port`. */
export function hostForAuthority(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}
