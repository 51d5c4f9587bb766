import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  claimStack,
  freePort,
  gatewayArguments,
  gatewayDir,
  isWanted,
  killMarked,
  logsDir as allLogs,
  markerName,
  portFrom,
  preferredPort,
  root,
  toolsDir,
  UserError,
} from '@media-services/stack/set-up';
import { z } from 'zod';
import { requireNginx } from '../gateway/nginx.js';
import { gatewayListen, renderGateway } from '../gateway/render-gateway.js';
import { Child } from './child.js';

const stopGraceMs = 10_000;
const healthyTimeoutMs = 180_000;
const loopback = '127.0.0.1';

export interface StackOptions {
  /** The gateway's port. */
  readonly port: number;
  readonly host?: string | undefined;
  /** Settings of the services and the gateway; `process.env` by default. */
  readonly env?: NodeJS.ProcessEnv;
  /** Folder for the logs; by default a folder named after the port. */
  readonly logsDir?: string;
  /** Receives each line of every log as it is written. */
  readonly onLine?: ((name: string, line: string) => void) | undefined;
  /** Uses free ports for the services instead of the default ones. */
  readonly freeServicePorts?: boolean;
}

interface ServicePorts {
  readonly videoDl: number;
  readonly bgRemoval: number;
  readonly videoDlMetrics: number;
  readonly bgRemovalMetrics: number;
}

/** Starts a stack on free ports and waits until it is healthy. Stops it if that fails. */
export async function startHealthyStack(
  options: Omit<StackOptions, 'port' | 'freeServicePorts'>,
): Promise<Stack> {
  const stack = await startStack({ ...options, port: await freePort(), freeServicePorts: true });
  try {
    await stack.healthy();
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

/**
 * Starts the services (SERVICES; both by default) and the gateway. Doesn't wait until they are
 * ready; `healthy()` does.
 * @throws {UserError} if nginx is missing or another stack of this checkout uses the port
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { port, host = loopback, env = process.env, onLine, freeServicePorts = false } = options;
  const { nginx, njsModule } = requireNginx(env);
  const logsDir = options.logsDir ?? join(allLogs, String(port));
  mkdirSync(logsDir, { recursive: true });
  const ports = await servicePorts(env, freeServicePorts);
  const marker = randomUUID();
  const claim = claimStack({ port, marker });
  const runDir = join(toolsDir, 'run', `gateway-${port}`);
  const forget = () => {
    claim.release();
    rmSync(runDir, { recursive: true, force: true });
  };
  try {
    renderGateway({
      gatewayDir,
      runDir,
      variables: {
        GATEWAY_LISTEN: gatewayListen(host, port),
        GATEWAY_NJS_MODULE: njsModule,
        VIDEO_DL_UPSTREAM: `${loopback}:${ports.videoDl}`,
        BG_REMOVAL_UPSTREAM: `${loopback}:${ports.bgRemoval}`,
      },
      settings: env,
    });
  } catch (error) {
    forget();
    throw error;
  }

  const start: StartChild = (name, file, args, childEnv) =>
    new Child({
      name,
      file,
      args,
      onLine,
      cwd: root,
      logFile: join(logsDir, `${name}.log`),
      env: { ...childEnv, [markerName]: marker },
    });
  const gateway = start('gateway', nginx, gatewayArguments(runDir), env);
  const services = startServices(start, ports, env);
  claim.setGroups([gateway, ...services].flatMap(({ pid }) => (pid === undefined ? [] : [pid])));
  const url = `http://${urlHost(host)}:${port}`;
  return new Stack({ gateway, services, ports, marker, logsDir, forget, url });
}

type StartChild = (name: string, file: string, args: readonly string[], env: NodeJS.ProcessEnv) => Child;

/** Starts the services named in SERVICES, all by default. `renderGateway` has validated the names. */
function startServices(start: StartChild, ports: ServicePorts, env: NodeJS.ProcessEnv): Child[] {
  return [
    ['video-dl', ports.videoDl, ports.videoDlMetrics] as const,
    ['bg-removal', ports.bgRemoval, ports.bgRemovalMetrics] as const,
  ]
    .filter(([name]) => isWanted(name, env))
    .map(([name, publicPort, metricsPort]) =>
      start(name, process.execPath, [join(root, 'apps', name, 'dist', 'main.js')], {
        ...env,
        HOST: loopback,
        PORT: String(publicPort),
        METRICS_PORT: String(metricsPort),
        TRUST_PROXY_HOPS: '1',
      }),
    );
}

/** The running processes of one stack. */
export class Stack implements AsyncDisposable {
  readonly url: string;
  readonly ports: ServicePorts;
  readonly logsDir: string;
  /** Resolves with the first process that ends unexpectedly. */
  readonly died: Promise<{ readonly child: Child; readonly reason: string }>;
  readonly #gateway: Child;
  readonly #services: readonly Child[];
  readonly #marker: string;
  readonly #forget: () => void;
  #stopped: Promise<void> | undefined;

  constructor(parts: {
    readonly gateway: Child;
    readonly services: readonly Child[];
    readonly ports: ServicePorts;
    readonly marker: string;
    readonly logsDir: string;
    readonly url: string;
    /** Removes this stack's record and run folder. */
    readonly forget: () => void;
  }) {
    this.#gateway = parts.gateway;
    this.#services = parts.services;
    this.#marker = parts.marker;
    this.#forget = parts.forget;
    this.url = parts.url;
    this.ports = parts.ports;
    this.logsDir = parts.logsDir;
    this.died = new Promise((resolve) => {
      for (const child of this.#children) {
        void child.exited.then(({ reason }) => {
          if (!child.stopping) resolve({ child, reason });
        });
      }
    });
  }

  get #children(): readonly Child[] {
    return [this.#gateway, ...this.#services];
  }

  /** The URL of each running service's metrics. */
  get metricsUrls(): Readonly<Record<string, string>> {
    const { videoDlMetrics, bgRemovalMetrics } = this.ports;
    const ports: Record<string, number> = { 'video-dl': videoDlMetrics, 'bg-removal': bgRemovalMetrics };
    return Object.fromEntries(
      this.#services.map(({ name }) => [name, `http://${loopback}:${ports[name]}/metrics`]),
    );
  }

  /** The process id of `gateway`, `video-dl` or `bg-removal`. */
  pidOf(name: string): number {
    const pid = this.#children.find((child) => child.name === name)?.pid;
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
    try {
      const response = await fetch(`${this.url}/api/health`, {
        signal: AbortSignal.any([AbortSignal.timeout(5000), ...(signal ? [signal] : [])]),
      });
      const { services } = healthReport.parse(await response.json());
      const states = Object.entries(services).map(([name, report]) => `${name} ${report.status}`);
      return { ok: response.ok, summary: states.join(', ') };
    } catch (error) {
      return { ok: false, summary: `gateway: ${causeOf(error)}` };
    }
  }

  /** Stops everything. Safe to call again. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll();
    return this.#stopped;
  }

  async #stopAll(): Promise<void> {
    for (const child of this.#children) child.stopping = true;
    // Stop the gateway first, so that no client waits for a stopped service.
    await this.#gateway.stop(stopGraceMs);
    await Promise.all(this.#services.map((child) => child.stop(stopGraceMs)));
    killMarked(this.#marker);
    this.#forget();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Kills everything at once. */
  kill(): void {
    for (const child of this.#children) {
      child.stopping = true;
      void child.stop(0);
    }
    killMarked(this.#marker);
  }
}

const healthReport = z.object({ services: z.record(z.string(), z.object({ status: z.string() })) });

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error.message;
}

/** The message for a process that has ended unexpectedly. */
export function deathMessage({ child, reason }: { child: Child; reason: string }): string {
  return `${child.name} ended unexpectedly (${reason}). Its last lines (${child.logFile}):\n${child.lastLines()}`;
}

async function servicePorts(env: NodeJS.ProcessEnv, anyFree: boolean): Promise<ServicePorts> {
  const port = async (name: string, usual: number) =>
    anyFree ? freePort() : (portFrom(env, name, undefined) ?? preferredPort(usual));
  return {
    videoDl: await port('VIDEO_DL_PORT', 3001),
    bgRemoval: await port('BG_REMOVAL_PORT', 3002),
    videoDlMetrics: await port('VIDEO_DL_METRICS_PORT', 9101),
    bgRemovalMetrics: await port('BG_REMOVAL_METRICS_PORT', 9102),
  };
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return loopback;
  return host.includes(':') ? `[${host}]` : host;
}
