import { setTimeout as delay } from 'node:timers/promises';

/** There is no result yet; `seen` describes the current state. */
export class NotYet {
  constructor(readonly seen: string) {}
}

/**
 * Asks again and again until there is an answer. `undefined` and `false` aren't answers, so that
 * a condition that isn't met can't end the wait.
 * @param what is waited for
 * @throws {Error} naming `what` and what was seen last when there is none within so many seconds
 */
export async function until<T extends object | string | number | true>(
  what: string,
  seconds: number,
  ask: () => Promise<T | NotYet>,
): Promise<T> {
  const end = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (!(answer instanceof NotYet)) return answer;
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s; ${answer.seen}`);
    await delay(500);
  }
}

/** For work that is awaited later: prevents an unhandled rejection until then. */
export function inBackground<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}
