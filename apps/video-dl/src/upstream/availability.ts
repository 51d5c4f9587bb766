import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@media-services/http-common';
import type { MediaSource } from './media-source.js';

/** A server's clock and ours differ a little, and a refusal costs an extraction. */
const marginMs = 250;

/** How long until all sources may be read; 0 when they may be now. @param now milliseconds since the epoch */
export function waitMs(sources: readonly MediaSource[], now: number): number {
  const latest = Math.max(0, ...sources.flatMap(({ availableAt }) => availableAt ?? []));
  return latest > now ? latest - now + marginMs : 0;
}

/**
 * Waits until all sources may be read: some sites refuse them until their advertisements are over.
 * @throws DomainError `upstream_timeout` at once when that is more than `maxMs` away; the signal's reason
 */
export async function untilAvailable(
  sources: readonly MediaSource[],
  { signal, maxMs }: { signal: AbortSignal; maxMs: number },
): Promise<void> {
  const ms = waitMs(sources, Date.now());
  if (ms === 0) return;
  if (ms > maxMs) {
    const seconds = Math.ceil(ms / 1000);
    throw new DomainError(
      'upstream_timeout',
      `The site gives this video out in ${seconds} s, after its advertisements, and that is longer than this service waits. Try again then.`,
    );
  }
  await delay(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
