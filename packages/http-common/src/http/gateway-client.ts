import type { Request } from 'express';
import { z } from 'zod';

/** Whom the gateway has recognised by a key of the operator's. */
export interface GatewayClient {
  readonly name: string;
  /** Requests in a minute, where the key has a limit of its own; 0 for none. */
  readonly limitPerMinute: number | undefined;
}

const nameSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,64}$/);
const limitSchema = z
  .string()
  .regex(/^\d{1,6}$/)
  .transform(Number);

/**
 * The client's key as the gateway tells it in `X-Client-Name` and `X-Client-Limit`;
 * nothing without a gateway in front (`TRUST_PROXY_HOPS=0`), where anybody could say so.
 */
export function gatewayClient(req: Request): GatewayClient | undefined {
  if (Number(req.app.get('trust proxy')) < 1) return undefined;
  const name = nameSchema.safeParse(req.get('X-Client-Name'));
  if (!name.success) return undefined;
  return { name: name.data, limitPerMinute: limitSchema.safeParse(req.get('X-Client-Limit')).data };
}
