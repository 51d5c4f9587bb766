import type { IncomingHttpHeaders } from 'node:http';

/** What a stream waited for the end of advertisements, as its `Server-Timing` tells. */
export function waitedSeconds(headers: IncomingHttpHeaders): number {
  const ms = /\bavailability;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1];
  return Number(ms ?? 0) / 1000;
}
