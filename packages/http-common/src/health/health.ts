import type { RequestHandler } from 'express';
import { untilAborted, withDeadline } from '../runtime/deadline.js';

/** `starting`: can't serve yet. `degraded`: serves, but needs the operator's attention. */
export type CheckStatus = 'ok' | 'degraded' | 'starting' | 'error';

export interface CheckResult {
  readonly status: CheckStatus;
  readonly [detail: string]: unknown;
}

export interface CheckOptions {
  /** Exercises the dependency with real work. */
  readonly check: (signal: AbortSignal) => Promise<CheckResult>;
  /** How long to reuse a success, in milliseconds; 0 for a check cheap enough to run every time. */
  readonly cacheMs?: number;
  readonly timeoutMs?: number;
}

/**
 * Runs one check at most once at a time. Reuses a fresh success. Returns a stale success at
 * once and refreshes it in the background, so probes never wait for an engine. Never reuses a
 * failure.
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

/** Limits for clients by the name of their setting, such as `imageMaxBytes`; 0 for no limit. */
export type Limits = Readonly<Record<string, number>>;

/** What the operator has switched on or off. */
export type Features = Readonly<Record<string, boolean>>;

export interface HealthReport {
  readonly statusCode: 200 | 503;
  readonly body: {
    readonly status: 'ok' | 'degraded' | 'error' | 'starting' | 'draining';
    readonly version: string;
    readonly uptimeSeconds: number;
    readonly limits: Limits;
    readonly features: Features;
    readonly checks: Readonly<Record<string, CheckResult>>;
  };
}

/** The named checks of one service, and its response to `GET /api/health`. */
export class HealthRegistry {
  readonly #about: { readonly version: string; readonly limits: Limits; readonly features: Features };
  readonly #checks = new Map<string, HealthCheck>();
  readonly #startedAt = performance.now();
  #draining = false;

  constructor({
    version,
    limits = {},
    features = {},
  }: {
    version: string;
    limits?: Limits;
    features?: Features;
  }) {
    this.#about = { version, limits, features };
  }

  add(name: string, options: CheckOptions): void {
    this.#checks.set(name, new HealthCheck(options));
  }

  /** From now on the service responds with 503, so that load balancers send no more work. */
  setDraining(): void {
    this.#draining = true;
  }

  async report(): Promise<HealthReport> {
    const entries = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await check.result()] as const),
    );
    const status = this.#draining ? 'draining' : worstOf(entries.map(([, result]) => result));
    return {
      statusCode: status === 'ok' || status === 'degraded' ? 200 : 503,
      body: {
        status,
        version: this.#about.version,
        uptimeSeconds: Math.round((performance.now() - this.#startedAt) / 1000),
        limits: this.#about.limits,
        features: this.#about.features,
        checks: Object.fromEntries(entries),
      },
    };
  }

  get handler(): RequestHandler {
    return async (_req, res) => {
      const { statusCode, body } = await this.report();
      res.setHeader('Cache-Control', 'no-store');
      if (statusCode === 503) res.setHeader('Retry-After', '5');
      res.status(statusCode).json(body);
    };
  }
}

function worstOf(results: readonly CheckResult[]): CheckResult['status'] {
  const order = ['error', 'starting', 'degraded'] as const;
  return order.find((status) => results.some((result) => result.status === status)) ?? 'ok';
}
