import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** A client that the gateway has identified by its API key. */
export interface GatewayClient {
  readonly name: string;
  /** Requests per minute, if the key has its own limit; 0 for no limit. */
  readonly limitPerMinute: number | undefined;
}

const nameSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/);
const limitSchema = z
  .string()
  .regex(/^\d{1,6}$/)
  .transform(Number);

export function isBehindGateway(req: Request): boolean {
  return Number(req.app.get('trust proxy')) >= 1;
}

/**
 * The client that the gateway reports in `X-Client-Name` and `X-Client-Limit`. Undefined
 * without a gateway in front (`TRUST_PROXY_HOPS=0`), since any client could then send these
 * headers.
 */
export function gatewayClient(req: Request): GatewayClient | undefined {
  if (!isBehindGateway(req)) return undefined;
  const name = nameSchema.safeParse(req.get('X-Client-Name'));
  if (!name.success) return undefined;
  return { name: name.data, limitPerMinute: limitSchema.safeParse(req.get('X-Client-Limit')).data };
}

/**
 * The client that a request counts for: the name of the API key that the gateway recognised, else the
 * IPv4 address or the /64 network of the IPv6 address, which only trusted proxies can set. Everything
 * that is shared between clients uses this value, from `RequestContext.client`.
 */
export function clientOf(req: Request): string {
  const name = gatewayClient(req)?.name;
  // oxlint-disable-next-line no-restricted-properties -- the only place that may read it
  return name === undefined ? networkOf(req.ip ?? '') : `key:${name}`;
}

/** One household has a /64 of IPv6 addresses. */
const ipv6PrefixLength = 64;

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  // An IPv4 client of a dual-stack socket arrives as ::ffff:a.b.c.d.
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${ipv6PrefixLength}`).toString()}/64`;
}
