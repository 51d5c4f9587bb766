import { z } from 'zod';
import type { Box, ExecOptions } from './place/box.js';
import { run, runBinary } from './run.js';

const containerSchema = z.object({
  State: z.object({
    Running: z.boolean(),
    ExitCode: z.number(),
    StartedAt: z.string(),
    OOMKilled: z.boolean(),
    Health: z.object({ Status: z.string() }).nullish(),
  }),
  RestartCount: z.number(),
  Config: z.object({ Image: z.string(), User: z.string() }),
  HostConfig: z.object({
    ReadonlyRootfs: z.boolean(),
    CapDrop: z.array(z.string()).nullish(),
    Memory: z.number(),
    NanoCpus: z.number(),
    PidsLimit: z.number().nullish(),
    Tmpfs: z.record(z.string(), z.string()).nullish(),
  }),
  NetworkSettings: z.object({
    Ports: z.record(z.string(), z.array(z.unknown()).nullable()),
    Networks: z.record(z.string(), z.object({ IPAddress: z.string() })),
  }),
});

/** The engine's data about a container. */
export type ContainerState = z.infer<typeof containerSchema>;

/** Runs the engine's command; returns its standard output. */
export function docker(...args: readonly string[]): Promise<string> {
  return run('docker', args);
}

export async function inspect({ name }: { readonly name: string }): Promise<ContainerState> {
  const [container] = z.array(containerSchema).parse(JSON.parse(await docker('inspect', name)));
  if (container === undefined) throw new Error(`there is no container ${name}`);
  return container;
}

/** A container of the engine. */
export function container(name: string): Box {
  return {
    name,
    exec: (command, { input, allowFailure }: ExecOptions = {}) =>
      runBinary('docker', ['exec', ...(input === undefined ? [] : ['-i']), name, ...command], {
        ...(input === undefined ? {} : { input }),
        ...(allowFailure === undefined ? {} : { allowFailure }),
      }),
  };
}

/** Containers with these labels, in the order of their names; only running ones unless `all`. */
export async function containersWith(labels: Record<string, string>, { all = false } = {}): Promise<Box[]> {
  const out = await docker(
    ...['ps', ...(all ? ['-a'] : []), '--format', '{{.Names}}'],
    ...Object.entries(labels).flatMap(([label, value]) => ['--filter', `label=${label}=${value}`]),
  );
  return out.split('\n').filter(Boolean).sort().map(container);
}

/** Programs that run in a container, by the engine's own list. */
export async function processesIn({ name }: Box): Promise<string[]> {
  const out = await docker('top', name, '-eo', 'pid,comm');
  return out
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/)[1] ?? '')
    .filter(Boolean);
}
