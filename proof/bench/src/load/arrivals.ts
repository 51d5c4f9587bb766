import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface LoadRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with POST. */
  readonly body?: Buffer;
}

/** How long each took until its last byte, in milliseconds; a failed one is not among them. */
export interface Arrived {
  readonly times: readonly number[];
  readonly failed: number;
}

/** Sends requests at a fixed rate, whether or not earlier ones have ended. */
export async function arrivals(
  amount: number,
  perSecond: number,
  requestOf: (index: number) => LoadRequest,
): Promise<Arrived> {
  const startedAt = performance.now();
  const sent: Promise<number | undefined>[] = [];
  for (let index = 0; index < amount; index += 1) {
    await delay(startedAt + (index * 1000) / perSecond - performance.now());
    // Caught at once: a request may fail while later ones still have to be sent.
    sent.push(send(requestOf(index), clientAddress(index)).catch(() => undefined));
  }
  const times = (await Promise.all(sent)).filter((each) => each !== undefined);
  return { times, failed: amount - times.length };
}

function send({ url, headers, body }: LoadRequest, client: string): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      agent: false,
      timeout: 60_000,
      headers: { ...headers, 'x-forwarded-for': client, 'content-length': body?.length ?? 0 },
    } as const;
    const sent = request(url, options, (response) => {
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedAt);
        else reject(new Error(`${response.statusCode ?? 'nothing'} from ${url}`));
      });
      response.resume();
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('timeout')));
    sent.end(body);
  });
}

/** Of the range for benchmarks (RFC 2544). */
function clientAddress(index: number): string {
  return `198.18.${(index >> 8) & 255}.${index & 255}`;
}
