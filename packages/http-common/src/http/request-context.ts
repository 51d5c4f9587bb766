import type { Response } from 'express';
import type { Logger } from '../logging/logger.js';
import type { StageTimings } from './stage-timings.js';

/** How a request ended: complete, given up by the client, refused or failed, or cut after its first byte. */
export type Outcome = 'ok' | 'aborted' | 'failed' | 'truncated';

/** What every handler may use of its request. */
export interface RequestContext {
  readonly requestId: string;
  readonly logger: Logger;
  /** Aborts with a ClientGoneError when the client leaves before the answer is finished. */
  readonly signal: AbortSignal;
  readonly timings: StageTimings;
  /** Adds bounded, harmless fields to the request's log line (a host, never a query). */
  note(fields: Readonly<Record<string, string | number | boolean | null>>): void;
  setOutcome(outcome: Outcome): void;
}

const contexts = new WeakMap<Response, RequestContext>();

export function attachRequestContext(res: Response, context: RequestContext): void {
  contexts.set(res, context);
}

/** @throws Error when the response does not come from an app of createHttpApp. */
export function requestContext(res: Response): RequestContext {
  const context = contexts.get(res);
  if (context === undefined) throw new Error('This response has no request context.');
  return context;
}
