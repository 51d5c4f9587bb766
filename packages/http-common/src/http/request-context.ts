import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import type { DomainError } from '../errors/domain-error.js';
import type { ErrorCode } from '../errors/error-table.js';
import type { Logger } from '../logging/logger.js';

/**
 * How a request ended: complete, aborted by the client, failed or rejected, or truncated after
 * its first byte.
 */
export type Outcome = 'ok' | 'aborted' | 'failed' | 'truncated';

/** Per-request state available to every handler. */
export interface RequestContext {
  readonly requestId: string;
  /** Who the request counts for: an API key, an IPv4 address or an IPv6 /64 (`clientOf`). */
  readonly client: string;
  readonly logger: Logger;
  /** Aborts with a ClientGoneError when the client leaves before the response is complete. */
  readonly signal: AbortSignal;
  readonly timings: StageTimings;
  /** Adds fields to the request's log line. They must be bounded and safe to log (a host, never a query). */
  note(fields: Readonly<Record<string, string | number | boolean | null>>): void;
  setOutcome(outcome: Outcome): void;
}

const contexts = new WeakMap<ServerResponse, RequestContext>();

export function attachRequestContext(res: Response, context: RequestContext): void {
  contexts.set(res, context);
}

/** Logs why we break off a response that no handler will end. No-op for one without a context. */
export function noteBreak(res: ServerResponse, { code, message }: DomainError): void {
  const context = contexts.get(res);
  context?.setOutcome(res.headersSent ? 'truncated' : 'failed');
  context?.note({ reason: message });
  setProblemCode(res, code);
}

/** @throws Error if the response doesn't belong to an app made by `createHttpApp` */
export function requestContext(res: Response): RequestContext {
  const context = contexts.get(res);
  if (context === undefined) throw new Error('This response has no request context.');
  return context;
}

const codes = new WeakMap<ServerResponse, ErrorCode>();

/** Remembers a response's error code for the log and the metrics. */
export function setProblemCode(res: ServerResponse, code: ErrorCode): void {
  codes.set(res, code);
}

export function problemCodeOf(res: ServerResponse): ErrorCode | undefined {
  return codes.get(res);
}

/** Milliseconds by stage, in the order the stages ended first. */
export class StageTimings {
  readonly #milliseconds = new Map<string, number>();
  readonly #onStage: (stage: string, milliseconds: number) => void;

  constructor(onStage: (stage: string, milliseconds: number) => void) {
    this.#onStage = onStage;
  }

  /** Starts a stage. @returns a function that ends it; calling it again does nothing */
  start(stage: string): () => void {
    const startedAt = performance.now();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.add(stage, performance.now() - startedAt);
    };
  }

  async measure<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const end = this.start(stage);
    try {
      return await work();
    } finally {
      end();
    }
  }

  add(stage: string, milliseconds: number): void {
    this.#milliseconds.set(stage, (this.#milliseconds.get(stage) ?? 0) + milliseconds);
    this.#onStage(stage, milliseconds);
  }

  /** The value of a `Server-Timing` header (W3C Server Timing). */
  header(): string {
    return [...this.#milliseconds].map(([stage, ms]) => `${stage};dur=${ms.toFixed(1)}`).join(', ');
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries(
      [...this.#milliseconds].map(([stage, ms]) => [stage, Math.round(ms * 10) / 10]),
    );
  }
}
