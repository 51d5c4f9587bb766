import { untilAborted, withDeadline } from '../runtime/deadline.js';

/** `starting` counts as not yet able to serve; `degraded` serves, but the operator should look. */
export type CheckStatus = 'ok' | 'degraded' | 'starting' | 'error';

export interface CheckResult {
  readonly status: CheckStatus;
  readonly [detail: string]: unknown;
}

export interface CheckOptions {
  /** Exercises the dependency for real. */
  readonly check: (signal: AbortSignal) => Promise<CheckResult>;
  /** How long a success is reused, milliseconds; 0 for a check that is cheap enough to run every time. */
  readonly cacheMs?: number;
  readonly timeoutMs?: number;
}

/**
 * Runs one check at most once at a time. A success is reused while fresh, and
 * while stale answered at once with a refresh behind it, so that probes never
 * wait for an engine; a failure is never reused.
 */
export class HealthCheck {
  readonly #options: Required<CheckOptions>;
  #last: { result: CheckResult; at: number } | undefined;
  #running: Promise<CheckResult> | undefined;

  constructor(options: CheckOptions) {
    this.#options = { cacheMs: 5000, timeoutMs: 10_000, ...options };
  }

  async result(): Promise<CheckResult> {
    const last = this.#last;
    if (last === undefined || this.#options.cacheMs === 0) return this.#run();
    if (performance.now() - last.at > this.#options.cacheMs) void this.#run();
    return last.result;
  }

  async #run(): Promise<CheckResult> {
    this.#running ??= this.#exercise().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #exercise(): Promise<CheckResult> {
    const startedAt = performance.now();
    let result: CheckResult;
    try {
      const late = () => new Error('The check did not finish in time.');
      result = await withDeadline({ timeoutMs: this.#options.timeoutMs, late }, (signal) =>
        untilAborted(this.#options.check(signal), signal),
      );
    } catch (error) {
      result = { status: 'error', message: error instanceof Error ? error.message : 'the check failed' };
    }
    const reusable = result.status === 'ok' || result.status === 'degraded';
    this.#last = reusable ? { result, at: startedAt } : undefined;
    return result;
  }
}
