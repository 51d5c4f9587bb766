import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '@media-services/stack/set-up';
import { z } from 'zod';
import { requireNginx } from '../gateway/nginx.js';
import { deathMessage, type Child } from './child.js';
import { launchGateway, launchServices, type Service } from './launch.js';
import { StackProcesses } from './stack-processes.js';

const healthyTimeoutMs = 180_000;
const loopback = '127.0.0.1';

export interface StackOptions {
  /** The gateway's port; any free one by default. */
  readonly port?: number;
  readonly host?: string | undefined;
  /** Settings of the services and the gateway; `process.env` by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** Folder for the logs; by default a folder named after the port. */
  readonly logsDir?: string;
  /** Receives each line of every log as it is written. */
  readonly onLine?: ((name: string, line: string) => void) | undefined;
  /** Stops the start. */
  readonly signal?: AbortSignal;
  /** Shared by the gateway and the services; by default GATEWAY_SECRET, else a random one. Empty: none. */
  readonly gatewaySecret?: string;
}

/** Starts a stack on free ports and waits until it is healthy. Stops it if that fails. */
export async function startHealthyStack(options: Omit<StackOptions, 'port'>): Promise<Stack> {
  const stack = await startStack(options);
  try {
    await stack.healthy();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/**
 * Starts the services (SERVICES; both by default), and the gateway once they listen. Doesn't wait
 * until they are ready; `healthy()` does.
 * @throws {UserError} if nginx is missing or a process ends; the signal's reason once it aborts
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { port, host = loopback, signal } = options;
  const settings = options.env ?? process.env;
  const { gatewaySecret = settings.GATEWAY_SECRET || randomBytes(24).toString('hex') } = options;
  const env = { ...settings, HOST: host, GATEWAY_SECRET: gatewaySecret };
  requireNginx(env);
  const processes = new StackProcesses(options);
  try {
    const services = await launchServices(processes, { env, signal });
    const gatewayPort = await launchGateway(processes, { host, port, services, env });
    return new Stack({ processes, services, url: `http://${urlHost(host)}:${gatewayPort}` });
  } catch (error) {
    await processes.stop();
    throw error;
  }
}

/** The running processes of one stack. */
export class Stack implements AsyncDisposable {
  readonly url: string;
  readonly logsDir: string;
  /** Folder of the gateway's configuration. */
  readonly runDir: string;
  /** Resolves with the first process that ends unexpectedly. */
  readonly died: Promise<{ readonly child: Child; readonly reason: string }>;
  readonly #processes: StackProcesses;
  readonly #services: readonly Service[];

  constructor(parts: {
    readonly processes: StackProcesses;
    readonly services: readonly Service[];
    readonly url: string;
  }) {
    this.#processes = parts.processes;
    this.#services = parts.services;
    this.url = parts.url;
    this.logsDir = parts.processes.logsDir;
    this.runDir = parts.processes.runDir;
    this.died = new Promise((resolve) => {
      for (const child of this.#processes.all) {
        void child.exited.then(({ reason }) => {
          if (!child.stopping) resolve({ child, reason });
        });
      }
    });
  }

  /** The URL of each running service's metrics. */
  get metricsUrls(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#services.map(({ name, metricsUrl }) => [name, `${metricsUrl}/metrics`]));
  }

  /** The URL of `video-dl` or `bg-removal` itself, without the gateway. */
  urlOf(name: string): string {
    const service = this.#services.find((each) => each.name === name);
    if (service === undefined) throw new Error(`${name} does not run.`);
    return service.url;
  }

  /** The process id of `gateway`, `video-dl` or `bg-removal`. */
  pidOf(name: string): number {
    const pid = this.#processes.all.find((child) => child.name === name)?.pid;
    if (pid === undefined) throw new Error(`${name} does not run.`);
    return pid;
  }

  /**
   * Resolves when all services report that they are healthy.
   * @throws {UserError} if a process ends or it takes too long; {Error} once `signal` aborts
   */
  async healthy({ log, signal }: { log?: (line: string) => void; signal?: AbortSignal } = {}): Promise<void> {
    const deadline = performance.now() + healthyTimeoutMs;
    const seen: { death?: { child: Child; reason: string } } = {};
    void this.died.then((death) => (seen.death = death));
    for (;;) {
      signal?.throwIfAborted();
      if (seen.death !== undefined) throw new UserError(deathMessage(seen.death));
      const health = await this.#health(signal);
      if (health.ok) return;
      log?.(health.summary);
      if (performance.now() > deadline) {
        throw new UserError(
          `Not healthy after ${healthyTimeoutMs / 1000} s (${health.summary}). The logs are in ${this.logsDir}`,
        );
      }
      await delay(250, undefined, { ...(signal && { signal }) });
    }
  }

  async #health(signal: AbortSignal | undefined): Promise<{ ok: boolean; summary: string }> {
    // Also used below: Node 20 forgets a timeout to which only `AbortSignal.any` refers.
    const deadline = AbortSignal.timeout(5000);
    try {
      const response = await fetch(`${this.url}/api/health`, {
        signal: AbortSignal.any([deadline, ...(signal ? [signal] : [])]),
      });
      const { services } = healthReport.parse(await response.json());
      const states = Object.entries(services).map(([name, report]) => `${name} ${report.status}`);
      return { ok: response.ok, summary: states.join(', ') };
    } catch (error) {
      return { ok: false, summary: `gateway: ${deadline.aborted ? 'no answer within 5 s' : causeOf(error)}` };
    }
  }

  /** Stops everything. Safe to call again. */
  stop(): Promise<void> {
    return this.#processes.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Kills everything at once. */
  kill(): void {
    this.#processes.kill();
  }
}

const healthReport = z.object({ services: z.record(z.string(), z.object({ status: z.string() })) });

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return loopback;
  return host.includes(':') ? `[${host}]` : host;
}
