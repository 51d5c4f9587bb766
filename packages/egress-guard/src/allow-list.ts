import ipaddr from 'ipaddr.js';
import { canonicalHost, contains } from './host.js';

type Rule = (host: string, address: string | null, port: number) => boolean;

/**
 * Private sources the operator allows: `10.1.0.0/16`, `10.1.2.3`, `media.intranet:8080`,
 * `127.0.0.1:9000`, `[fd00::1]:8080`.
 */
export class AllowList {
  readonly #rules: readonly Rule[];

  /** @throws TypeError naming the first invalid entry */
  constructor(entries: readonly string[]) {
    this.#rules = entries.map(parseAllowedSource);
  }

  /**
   * @param host canonical host of the request
   * @param address canonical address it resolved to; null if only a proxy can resolve it
   */
  allows(host: string, address: string | null, port: number): boolean {
    return this.#rules.some((rule) => rule(host, address, port));
  }
}

/**
 * Parses one entry of the list.
 * @throws TypeError showing the entry and the supported formats
 */
export function parseAllowedSource(entry: string): Rule {
  if (ipaddr.isValidCIDR(entry)) {
    const [network, prefixLength] = ipaddr.parseCIDR(entry);
    return (_host, address) => address !== null && contains(network, prefixLength, ipaddr.parse(address));
  }
  if (ipaddr.IPv6.isValid(entry) || ipaddr.IPv4.isValidFourPartDecimal(entry)) {
    const wanted = ipaddr.parse(entry).toString();
    return (_host, address) => address === wanted;
  }
  const match = /^(?<host>[^\s/:]+|\[[0-9a-fA-F:.]+\]):(?<port>\d{1,5})$/.exec(entry);
  const port = Number(match?.groups?.['port']);
  if (match?.groups?.['host'] === undefined || port < 1 || port > 65_535) {
    throw new TypeError(
      `"${entry}" is not an allowed private source; write a CIDR (10.0.0.0/8) or host:port (media.intranet:8080)`,
    );
  }
  const wanted = canonicalHost(match.groups['host']).value;
  return (host, address, askedPort) => askedPort === port && (host === wanted || address === wanted);
}
