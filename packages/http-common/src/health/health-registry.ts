import type { RequestHandler } from 'express';
import { HealthCheck, type CheckOptions, type CheckResult } from './health-check.js';

export interface HealthReport {
  readonly statusCode: 200 | 503;
  readonly body: {
    readonly status: 'ok' | 'degraded' | 'error' | 'starting' | 'draining';
    readonly version: string;
    readonly uptimeSeconds: number;
    readonly checks: Readonly<Record<string, CheckResult>>;
  };
}

/** The named checks of one service and its answer to `GET /api/health`. */
export class HealthRegistry {
  readonly #version: string;
  readonly #checks = new Map<string, HealthCheck>();
  readonly #startedAt = performance.now();
  #draining = false;

  constructor(options: { version: string }) {
    this.#version = options.version;
  }

  add(name: string, options: CheckOptions): void {
    this.#checks.set(name, new HealthCheck(options));
  }

  /** From now on the service answers 503, so that balancers send no more work. */
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
        version: this.#version,
        uptimeSeconds: Math.round((performance.now() - this.#startedAt) / 1000),
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
