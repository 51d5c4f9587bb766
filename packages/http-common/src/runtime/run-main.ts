import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { ConfigError } from '../config/load-config.js';
import { startTracing } from '../telemetry/tracing.js';
import type { RunningService } from './run-service.js';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;

/**
 * Lets V8's heap grow to four times what the last collection left, as V8 does for large heaps.
 * A service has a small heap, and buffers count as growth: images and streams would cause a
 * collection every few megabytes.
 */
export const garbageCollection = '--heap-growing-percent=300';

/**
 * Runs a service process: starts, waits for SIGTERM or SIGINT, stops. With `--check-config`, only
 * validates the settings. A configuration error prints a message and exits with code 78.
 */
export async function runMain<Config>(
  readConfig: () => Config,
  start: (config: Config) => Promise<RunningService>,
  service: string,
): Promise<void> {
  try {
    const config = readConfig();
    if (!process.argv.includes('--check-config')) await runUntilShutdown(() => start(config), service);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = configurationExitCode;
  }
}

async function runUntilShutdown(start: () => Promise<RunningService>, name: string): Promise<void> {
  setFlagsFromString(garbageCollection);
  const shutdown = shutdownSignal();
  const stopTracing = await startTracing(name);
  const service = await start();
  // For the program that started us: with port 0, nobody else knows where we listen.
  process.send?.({ url: service.url, metricsUrl: service.metricsUrl });
  await new Promise<void>((resolve) => {
    if (shutdown.aborted) resolve();
    else shutdown.addEventListener('abort', () => resolve(), { once: true });
  });
  await service.stop();
  await stopTracing();
}

/** Aborts when the process is asked to stop (SIGTERM, SIGINT). */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.once(name, () => controller.abort(name));
  }
  return controller.signal;
}

const packageSchema = z.object({ version: z.string() });

/** The version in a `package.json`, given as file URL. */
export function packageVersion(packageJson: URL): string {
  return packageSchema.parse(JSON.parse(readFileSync(packageJson, 'utf8'))).version;
}
