import { ConfigError } from '../config/load-config.js';
import type { RunningService } from './run-service.js';
import { shutdownSignal } from './shutdown-signal.js';

/** `EX_CONFIG` of sysexits.h. */
const configurationExitCode = 78;

/**
 * The whole life of a service process: start, wait for SIGTERM or SIGINT, stop.
 * A configuration error is one clear message and exit code 78.
 */
export async function runMain(start: () => Promise<RunningService>): Promise<void> {
  const shutdown = shutdownSignal();
  try {
    const service = await start();
    await new Promise<void>((resolve) => {
      if (shutdown.aborted) resolve();
      else shutdown.addEventListener('abort', () => resolve(), { once: true });
    });
    await service.stop();
  } catch (error) {
    explainConfigError(error);
  }
}

/** Reads a configuration and nothing else; the outcome is told as `runMain` tells it. */
export function checkConfig(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    explainConfigError(error);
  }
}

function explainConfigError(error: unknown): void {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = configurationExitCode;
}
