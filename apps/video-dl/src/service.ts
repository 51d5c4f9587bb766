import {
  createHttpApp,
  createLogger,
  createMetrics,
  HealthRegistry,
  methods,
  packageVersion,
  runService,
  type RunningService,
} from '@media-services/http-common';
import type { Config } from './config.js';
import { createContext, type AppContext, type ContextOverrides } from './context.js';
import { errorTable } from './errors.js';
import { downloadEngineCheck, muxingEngineCheck } from './api/health.js';
import { infoHandler } from './api/info.js';
import { audioStreamHandler, videoStreamHandler } from './api/stream.js';

const serviceName = 'video-dl';
const packageJson = new URL('../package.json', import.meta.url);

/** A running video-dl with what tests look into. */
export interface VideoDlService extends RunningService {
  readonly context: AppContext;
}

/**
 * Starts the service; it listens at once and is healthy when its engines are.
 * @throws ConfigError when something that it needs is missing
 */
export async function createVideoDlService(
  config: Config,
  overrides: ContextOverrides = {},
): Promise<VideoDlService> {
  const logger = createLogger({ service: serviceName, level: config.LOG_LEVEL });
  const metrics = createMetrics({ service: serviceName });
  const context = await createContext(config, { logger, metrics }, overrides);
  const health = new HealthRegistry({ version: packageVersion(packageJson) });
  health.add('downloadEngine', downloadEngineCheck(context.engine));
  health.add('muxingEngine', muxingEngineCheck(context.tools));

  const app = createHttpApp({
    logger,
    metrics,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    errors: errorTable,
    docsBaseUrl: config.DOCS_BASE_URL,
    routes: (router) => {
      methods(router, '/api/info', { get: infoHandler(context) });
      methods(router, '/api/stream', { get: audioStreamHandler(context) });
      methods(router, '/api/stream/video', { get: videoStreamHandler(context) });
      methods(router, '/api/health', { get: health.handler });
    },
  });
  const service = await runService({
    app,
    config,
    metrics,
    health,
    logger,
    dispose: () => context.dispose(),
  });
  warmUp(context, health);
  return { ...service, context };
}

/** Starts the engines behind the open port, and fills the health cache once they are ready. */
function warmUp({ engine, logger }: AppContext, health: HealthRegistry): void {
  engine.start().then(
    async () => health.report(),
    // Only a service that stops gives its engines up.
    (error: unknown) => logger.debug({ err: error }, 'the download engine was not awaited'),
  );
}
