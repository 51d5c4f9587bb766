import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  gatewayDir,
  isWanted,
  listenFailure,
  root,
  UserError,
  withStaticFfmpeg,
} from '@media-services/stack/set-up';
import { z } from 'zod';
import { gatewayArguments, nginxListens, portInUse, requireNginx } from '../gateway/nginx.js';
import { gatewayListen, renderGateway } from '../gateway/render-gateway.js';
import { deathMessage, type Child } from './child.js';
import { onFreePort } from './free-port.js';
import { gatewayName, type StackProcesses } from './stack-processes.js';

const loopback = '127.0.0.1';
const listenTimeoutMs = 180_000;
/** The services and the ports for their metrics, unless other programs use those. */
const services = { 'video-dl': 9101, 'bg-removal': 9102 };

/** A running service. */
export interface Service {
  readonly name: string;
  readonly url: string;
  readonly metricsUrl: string;
}

/**
 * Starts the services named in SERVICES, all by default, and waits until they listen.
 * @throws {UserError} if one ends
 */
export async function launchServices(
  processes: StackProcesses,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal?: AbortSignal | undefined },
): Promise<readonly Service[]> {
  const wanted = Object.entries(services).filter(([name]) => isWanted(name, env));
  return Promise.all(
    wanted.map(([name, metricsPort]) => {
      const main = join(root, 'apps', name, 'dist', 'main.js');
      return launchService(processes, { name, main, metricsPort, env, signal });
    }),
  );
}

interface ServiceLaunch {
  readonly name: string;
  readonly main: string;
  /** Preferred; 0 for any free one. */
  readonly metricsPort: number;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

const listeningReport = z.object({ url: z.string(), metricsUrl: z.string() });

/**
 * Starts a service on free ports and waits until it reports them.
 * @throws {UserError} if it ends
 */
export async function launchService(processes: StackProcesses, launch: ServiceLaunch): Promise<Service> {
  const { name, main, metricsPort, env, signal } = launch;
  const isTaken = async () => metricsPort !== 0 && (await listenFailure(metricsPort, loopback)) !== undefined;
  const onAnyPort = () => launchService(processes, { ...launch, metricsPort: 0 });
  if (await isTaken()) return onAnyPort();
  signal?.throwIfAborted();
  const child = processes.start({
    name,
    file: process.execPath,
    args: [main],
    env: {
      ...withStaticFfmpeg(root, env),
      HOST: loopback,
      PORT: '0',
      METRICS_PORT: String(metricsPort),
      TRUST_PROXY_HOPS: '1',
    },
    ipc: true,
  });
  const first = await firstOf(child, child.message, signal);
  if (!('reason' in first)) return { name, ...listeningReport.parse(first.message) };
  // Another program may have taken the port since we looked.
  if (!(await isTaken())) throw new UserError(deathMessage({ child, reason: first.reason }));
  processes.forget(child);
  return onAnyPort();
}

/** Waits for a program's first message or its end. */
async function firstOf(
  child: Child,
  message: Promise<unknown>,
  signal: AbortSignal | undefined,
): Promise<{ message: unknown } | { reason: string }> {
  const timer = new AbortController();
  const either = AbortSignal.any([timer.signal, ...(signal ? [signal] : [])]);
  const tooLong = delay(listenTimeoutMs, undefined, { signal: either }).then(() => {
    throw new UserError(`${child.name} does not listen after ${listenTimeoutMs / 1000} s: ${child.logFile}`);
  });
  try {
    return await Promise.race([
      message.then((value) => ({ message: value })),
      child.exited.then(({ reason }) => ({ reason })),
      tooLong,
    ]);
  } finally {
    timer.abort();
  }
}

/**
 * Starts the gateway in front of services that listen.
 * @param options.port any free one if undefined
 * @returns its port
 * @throws {UserError} if nginx is missing, or if it ends
 */
export async function launchGateway(
  processes: StackProcesses,
  options: {
    readonly host: string;
    readonly port: number | undefined;
    readonly services: readonly Service[];
    readonly env: NodeJS.ProcessEnv;
  },
): Promise<number> {
  const { host, port: given, env } = options;
  const { nginx, njsModule } = requireNginx(env);
  const { runDir } = processes;
  // nginx wants an upstream even for a service without routes.
  const upstream = (name: string) =>
    new URL(options.services.find((service) => service.name === name)?.url ?? `http://${loopback}:9`).host;
  const open = async (port: number): Promise<number> => {
    renderGateway({
      gatewayDir,
      runDir,
      variables: {
        GATEWAY_LISTEN: gatewayListen(host, port),
        GATEWAY_NJS_MODULE: njsModule,
        VIDEO_DL_UPSTREAM: upstream('video-dl'),
        BG_REMOVAL_UPSTREAM: upstream('bg-removal'),
      },
      settings: env,
    });
    const child = processes.start({ name: gatewayName, file: nginx, args: gatewayArguments(runDir), env });
    const end = await nginxListens(runDir, child);
    if (end === undefined) return port;
    const message = deathMessage({ child, reason: end.reason });
    processes.forget(child);
    throw given === undefined ? (portInUse(message) ?? new UserError(message)) : new UserError(message);
  };
  return given === undefined ? onFreePort(open, host) : open(given);
}
