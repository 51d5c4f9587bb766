import type { Site } from '@media-services/fault-site';
import { setTimeout as delay } from 'node:timers/promises';
import { exchange, newClient, type Answer, type Upload } from './exchange.js';
import type { Killer } from './killer.js';
import type { Ledger } from './ledger.js';

/** The context of every client of a soak. */
export interface SoakContext {
  readonly gatewayUrl: string;
  readonly site: Site;
  readonly ledger: Ledger;
  readonly killer: Killer;
  /** Ends the load; running requests finish. */
  readonly signal: AbortSignal;
}

/** A request with a correct response. */
export interface GoodRequest {
  readonly kind: string;
  /** Path and query at the gateway; a new page each time, so that nothing is cached. */
  readonly path: () => string;
  readonly upload?: Upload;
  /** What is wrong with a complete response of 200; undefined if nothing is. */
  readonly wrongWith: (answer: Answer) => Promise<string | undefined>;
}

const maxAttempts = 5;

/**
 * Repeats a request until its response is correct. Only an honest error around the time of a
 * kill may be retried; any other incorrect response is a problem.
 */
export async function expectRight(context: SoakContext, good: GoodRequest): Promise<void> {
  const { ledger, killer, gatewayUrl } = context;
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now();
    const path = good.path();
    const answer = await exchange({ url: gatewayUrl + path, client: newClient(), upload: good.upload });
    const wrong = await wrongWith(answer, good);
    if (wrong === undefined) {
      ledger.count(good.kind, attempt === 1 ? 'right' : 'right, asked again after a kill');
      return;
    }
    const isHonest = !answer.isWhole || answer.status >= 500;
    if (!isHonest || !killer.mayHaveHit(startedAt) || attempt === maxAttempts) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      ledger.count(good.kind, 'wrong');
      ledger.problem(`${good.kind}: ${wrong} (${path}, after ${seconds} s, attempt ${attempt})`);
      return;
    }
    await delay(Number(answer.headers['retry-after'] ?? 1) * 1000);
  }
}

async function wrongWith(answer: Answer, good: GoodRequest): Promise<string | undefined> {
  if (answer.status !== 200)
    return `status ${answer.status} ${answer.body.toString('utf8').slice(0, 300)}`.trim();
  return answer.isWhole ? good.wrongWith(answer) : `the connection broke after ${answer.body.length} bytes`;
}

/** A request whose response must be an error or an interrupted connection. */
export async function expectFailure(
  { ledger, gatewayUrl }: SoakContext,
  { kind, path, upload }: Pick<GoodRequest, 'kind' | 'upload'> & { readonly path: string },
): Promise<void> {
  const { status, isWhole, body } = await exchange({ url: gatewayUrl + path, client: newClient(), upload });
  ledger.count(kind, isWhole ? String(status) : 'reset');
  if (isWhole && status < 400) ledger.problem(`${kind}: a clean ${status} of ${body.length} bytes (${path})`);
  if (status === 500) ledger.problem(`${kind}: ${body.toString('utf8').slice(0, 300)} (${path})`);
}
