import { gatewayClient } from '@media-services/http-common';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Request } from 'express';

/** IPv6 clients own at least a /64. */
const ipv6PrefixLength = 64;

/**
 * Whom a request is counted for: the name of the key that the gateway has
 * recognised, else the IP address that Express believes (`req.ip`, so only
 * configured proxies can tell another one), of IPv6 the /64 of it.
 */
export function clientKey(req: Request): string {
  const name = gatewayClient(req)?.name;
  return name === undefined ? ipKeyGenerator(req.ip ?? '', ipv6PrefixLength) : `key:${name}`;
}
