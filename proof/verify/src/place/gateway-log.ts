import { z } from 'zod';

const lineSchema = z.object({
  requestId: z.string(),
  path: z.string(),
  status: z.number(),
  upstream: z.string(),
});

/** A request in the gateway's access log. */
export type GatewayLine = z.infer<typeof lineSchema>;

/** The requests whose id begins with `id`. */
export function gatewayLines(log: string, id: string): GatewayLine[] {
  return log
    .split('\n')
    .filter((line) => line.includes(`"requestId":"${id}`))
    .map((line) => lineSchema.parse(JSON.parse(line)));
}

/** IP:port of the replica that responded; the last one if several were tried. */
export function replicaOf({ upstream }: GatewayLine): string {
  return upstream.split(/, | : /).at(-1) ?? '';
}
