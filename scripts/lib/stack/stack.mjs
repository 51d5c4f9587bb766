import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { renderGateway } from '../gateway-config.mjs';
import { findNginx, gatewayArguments } from '../nginx-binary.mjs';
import { gatewayDir, root, toolsDir } from '../project.mjs';
import { UserError } from '../user-error.mjs';
import { Child } from './child.mjs';
import { killMarked, markedProcesses, markerName } from './leftovers.mjs';
import { recordStack } from './orphans.mjs';
import { freePort, portFrom, preferredPort } from './ports.mjs';

const stopGraceMs = 10_000;
const loopback = '127.0.0.1';

/**
 * Starts both services and the gateway in front of them.
 * @param {{ port: number, host?: string, env?: NodeJS.ProcessEnv, logsDir: string, onLine?: (name: string, line: string) => void, freeServicePorts?: boolean }} options
 *   `freeServicePorts` keeps away from the usual ports of the services
 * @returns {Promise<Stack>} at once; `healthy()` tells when it can be used
 */
export async function startStack(options) {
  const { port, host = loopback, env = process.env, logsDir, onLine, freeServicePorts = false } = options;
  const { nginx, njsModule } = findNginx(env);
  if (nginx === undefined || njsModule === undefined) {
    throw new UserError('nginx or its njs module is missing. Run `npm run setup`.');
  }
  mkdirSync(logsDir, { recursive: true });
  const ports = await servicePorts(env, freeServicePorts);
  const marker = randomUUID();
  const serviceEnv = (publicPort, metricsPort) => ({
    ...env,
    HOST: loopback,
    PORT: String(publicPort),
    METRICS_PORT: String(metricsPort),
    TRUST_PROXY_HOPS: '1',
    [markerName]: marker,
  });
  const runDir = join(toolsDir, 'run', `gateway-${port}`);
  renderGateway({
    gatewayDir,
    runDir,
    variables: {
      GATEWAY_LISTEN: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
      GATEWAY_NJS_MODULE: njsModule,
      VIDEO_DL_UPSTREAM: `${loopback}:${ports.videoDl}`,
      BG_REMOVAL_UPSTREAM: `${loopback}:${ports.bgRemoval}`,
    },
    env,
  });

  const start = (name, file, args, childEnv) =>
    new Child({ name, file, args, env: childEnv, cwd: root, logFile: join(logsDir, `${name}.log`), onLine });
  const service = (name, publicPort, metricsPort) =>
    start(
      name,
      process.execPath,
      [join(root, 'apps', name, 'dist', 'main.js')],
      serviceEnv(publicPort, metricsPort),
    );
  // In the order in which they are stopped: without the gateway nobody waits for the services.
  const children = [
    start('gateway', nginx, gatewayArguments(runDir), { ...env, [markerName]: marker }),
    service('video-dl', ports.videoDl, ports.videoDlMetrics),
    service('bg-removal', ports.bgRemoval, ports.bgRemovalMetrics),
  ];
  const groups = children.map(({ pid }) => pid).filter((pid) => pid !== undefined);
  const removeRecord = recordStack({ port, marker, groups });
  const forget = () => {
    removeRecord();
    rmSync(runDir, { recursive: true, force: true });
  };
  return new Stack({ children, ports, marker, logsDir, forget, url: `http://${urlHost(host)}:${port}` });
}

/** The running processes of one stack. */
export class Stack {
  #children;
  #marker;
  #forget;
  #stopped;

  constructor({ children, ports, marker, logsDir, forget, url }) {
    this.#children = children;
    this.#marker = marker;
    this.#forget = forget;
    this.url = url;
    this.ports = ports;
    this.logsDir = logsDir;
    /** Resolves with the first process that ends without having been told to. */
    this.died = Promise.race(
      children.map(async (child) => {
        const exit = await child.exited;
        return child.stopping ? new Promise(() => {}) : { child, reason: exit.reason };
      }),
    );
  }

  /** The process that runs each part. */
  get pids() {
    return Object.fromEntries(this.#children.map(({ name, pid }) => [name, pid]));
  }

  /** Everything that runs for this stack, engines and converters included (Linux). */
  processes() {
    return markedProcesses(this.#marker);
  }

  /**
   * Resolves when both services answer that they are well.
   * @throws {UserError} when a process dies or the time is over
   */
  async healthy({ timeoutMs = 180_000, log = () => {}, signal } = {}) {
    const deadline = performance.now() + timeoutMs;
    let died;
    void this.died.then((value) => (died = value));
    for (;;) {
      signal?.throwIfAborted();
      if (died !== undefined) throw new UserError(deathNotice(died));
      const health = await this.#health();
      if (health.ok) return;
      log(health.summary);
      if (performance.now() > deadline) {
        throw new UserError(
          `Not healthy after ${timeoutMs / 1000} s (${health.summary}). The logs are in ${this.logsDir}`,
        );
      }
      await delay(250);
    }
  }

  async #health() {
    try {
      const response = await fetch(`${this.url}/api/health`, { signal: AbortSignal.timeout(5000) });
      const { services } = await response.json();
      const states = Object.entries(services).map(([name, report]) => `${name} ${report.status}`);
      return { ok: response.ok, summary: states.join(', ') };
    } catch (error) {
      return { ok: false, summary: `gateway: ${error.cause?.code ?? error.message}` };
    }
  }

  /** Ends everything; safe to call again. */
  stop(graceMs = stopGraceMs) {
    this.#stopped ??= this.#stopAll(graceMs);
    return this.#stopped;
  }

  async #stopAll(graceMs) {
    const [gateway, ...services] = this.#children;
    for (const child of this.#children) child.stopping = true;
    await gateway.stop(graceMs);
    await Promise.all(services.map((child) => child.stop(graceMs)));
    killMarked(this.#marker);
    this.#forget();
  }

  /** Ends everything at once, without grace. */
  kill() {
    for (const child of this.#children) {
      child.stopping = true;
      void child.stop(0);
    }
    killMarked(this.#marker);
  }
}

/** What to tell about a process that has ended by itself. */
export function deathNotice({ child, reason }) {
  return `${child.name} ended unexpectedly (${reason}). Its last lines (${child.logFile}):\n${child.lastLines()}`;
}

async function servicePorts(env, anyFree) {
  const port = (name, usual) =>
    anyFree ? freePort() : (portFrom(env, name, undefined) ?? preferredPort(usual));
  return {
    videoDl: await port('VIDEO_DL_PORT', 3001),
    bgRemoval: await port('BG_REMOVAL_PORT', 3002),
    videoDlMetrics: await port('VIDEO_DL_METRICS_PORT', 9101),
    bgRemovalMetrics: await port('BG_REMOVAL_METRICS_PORT', 9102),
  };
}

function urlHost(host) {
  if (host === '0.0.0.0' || host === '::') return loopback;
  return host.includes(':') ? `[${host}]` : host;
}
