import type { RequestListener } from 'node:http';
import express from 'express';
import type { HealthRegistry } from '../health/health.js';
import type { Logger } from '../logging/logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { listen } from './http-listener.js';

export interface ServiceRuntimeOptions {
  readonly app: RequestListener;
  readonly config: {
    readonly HOST: string;
    readonly PORT: number;
    readonly METRICS_PORT: number;
    readonly SHUTDOWN_GRACE_SECONDS: number;
  };
  readonly metrics: Metrics;
  readonly health: HealthRegistry;
  readonly logger: Logger;
  /** Releases engines, pools and connections after the last request. */
  readonly dispose: () => Promise<void>;
}

export interface RunningService {
  readonly url: string;
  readonly metricsUrl: string;
  /** Drains running work up to the grace period, aborts the rest, then disposes. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Opens the public port and the metrics port.
 * @throws ConfigError if a port is not available, after disposing everything
 */
export async function runService(options: ServiceRuntimeOptions): Promise<RunningService> {
  const { config, logger, metrics, health } = options;
  const metricsListener = await listen({
    handler: operationsApp(metrics),
    host: config.HOST,
    port: config.METRICS_PORT,
    portSetting: 'METRICS_PORT',
  }).catch(disposeAndRethrow(options.dispose));
  const listener = await listen({
    handler: options.app,
    host: config.HOST,
    port: config.PORT,
    portSetting: 'PORT',
  }).catch(
    disposeAndRethrow(async () => {
      await metricsListener.close(0);
      await options.dispose();
    }),
  );
  logger.info({ url: listener.url, metricsUrl: metricsListener.url }, 'listening');

  const stop = async (): Promise<void> => {
    logger.info('draining');
    health.setDraining();
    await listener.close(config.SHUTDOWN_GRACE_SECONDS * 1000);
    await options.dispose();
    await metricsListener.close(0);
    logger.info('stopped');
  };
  let stopping: Promise<void> | undefined;
  return {
    url: listener.url,
    metricsUrl: metricsListener.url,
    stop: () => (stopping ??= stop()),
  };
}

function disposeAndRethrow(dispose: () => Promise<void>): (error: unknown) => Promise<never> {
  return async (error) => {
    await dispose();
    throw error;
  };
}

/** `/livez` shows that the event loop is running; `/metrics` is for Prometheus. */
function operationsApp(metrics: Metrics): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.get('/livez', (_req, res) => {
    res.type('text/plain').send('ok\n');
  });
  app.get('/metrics', async (_req, res) => {
    res.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  return app;
}
