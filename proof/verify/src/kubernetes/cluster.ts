import { z } from 'zod';
import { fileURLToPath } from 'node:url';
import type { Box, ExecOptions } from '../place/box.js';
import { gatewayLines, type GatewayLine } from '../place/gateway-log.js';
import { run, runBinary, type RunOptions } from '../run.js';
import { NotYet, until } from '../wait.js';

/** Where the services are, and where the clients and the web site are. */
export const product = 'media-services';
const outside = 'media-services-verify';
/** The web site with the video. */
export const source = `source.${outside}.svc.cluster.local:8000`;

const overlay = fileURLToPath(new URL('../../kubernetes', import.meta.url));
const inside = fileURLToPath(new URL('../inside', import.meta.url));

export type App = 'gateway' | 'video-dl' | 'bg-removal' | 'redis' | 'client' | 'source';

const podsSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({
        name: z.string(),
        namespace: z.string(),
        deletionTimestamp: z.string().optional(),
      }),
      status: z.object({
        podIP: z.string().optional(),
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
      }),
    }),
  ),
});

/** A pod that runs. */
export interface Pod extends Box {
  readonly ip: string;
}

/** Runs kubectl in a namespace; returns its standard output. */
export function kubectl(namespace: string, args: readonly string[], options?: RunOptions): Promise<string> {
  return run('kubectl', ['--namespace', namespace, ...args], options);
}

/** Pods of a deployment that are ready and not on their way out, in the order of their names. */
export async function podsOf(app: App): Promise<Pod[]> {
  const namespace = app === 'client' || app === 'source' ? outside : product;
  const selector = ['--selector', `app.kubernetes.io/name=${app}`];
  const out = await kubectl(namespace, ['get', 'pods', ...selector, '--output', 'json']);
  const pods = podsSchema.parse(JSON.parse(out)).items.flatMap(({ metadata, status }) => {
    const isReady = status.conditions.some((each) => each.type === 'Ready' && each.status === 'True');
    if (!isReady || metadata.deletionTimestamp !== undefined || status.podIP === undefined) return [];
    return [pod(metadata.namespace, metadata.name, status.podIP)];
  });
  return pods.sort((left, right) => left.name.localeCompare(right.name));
}

function pod(namespace: string, name: string, ip: string): Pod {
  return {
    name,
    ip,
    exec: (command, options: ExecOptions = {}) =>
      runBinary(
        'kubectl',
        [
          ...['--namespace', namespace, 'exec'],
          ...(options.input === undefined ? [] : ['--stdin']),
          ...[name, '--', ...command],
        ],
        options,
      ),
  };
}

/**
 * One of the pods of a deployment.
 * @param number from 0
 */
export async function podOf(app: App, number = 0): Promise<Pod> {
  const found = (await podsOf(app))[number];
  if (found === undefined) throw new Error(`pod ${number} of ${app} is not ready`);
  return found;
}

/** Waits until a deployment has exactly so many ready pods. */
export function readyPods(app: App, count: number, seconds = 180): Promise<Pod[]> {
  return until(`${count} pods of ${app}`, seconds, async () => {
    const pods = await podsOf(app);
    return pods.length === count ? pods : new NotYet(`${pods.length} are ready`);
  });
}

/** The log lines of all gateways of requests whose id begins with `id`. */
export async function gatewayLog(id: string): Promise<GatewayLine[]> {
  const logs = await Promise.all(
    (await podsOf('gateway')).map(({ name }) => kubectl(product, ['logs', name])),
  );
  return logs.flatMap((log) => gatewayLines(log, id));
}

/** Applies the base with the overlay of this package, and waits until everything is ready. */
export async function deploy(): Promise<void> {
  const manifest = (kind: string, ...args: string[]) =>
    kubectl(outside, ['create', kind, ...args, '--dry-run=client', '--output', 'yaml']);
  const apply = async (input: string) => kubectl(outside, ['apply', '--filename', '-'], { input });
  await apply(await manifest('namespace', outside));
  await apply(await manifest('configmap', 'inside', `--from-file=${inside}`));
  await applyOverlay();
  for (const [namespace, name] of [
    [outside, 'source'],
    [outside, 'client'],
    [product, 'redis'],
    [product, 'gateway'],
    [product, 'video-dl'],
    [product, 'bg-removal'],
  ] as const) {
    await kubectl(namespace, ['rollout', 'status', `deployment/${name}`, '--timeout=300s']);
  }
  await readyPods('gateway', 2);
  // The autoscalers' minimum.
  await readyPods('video-dl', 2);
  await readyPods('bg-removal', 2);
}

/** Brings everything to what the overlay says. */
export async function applyOverlay(): Promise<void> {
  await run('kubectl', ['apply', '--kustomize', overlay]);
}

/** Takes away everything that `deploy` has made. */
export async function remove(): Promise<void> {
  await run('kubectl', ['delete', 'namespace', product, outside, '--ignore-not-found', '--timeout=180s']);
}
