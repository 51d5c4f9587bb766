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
import { createRateLimiter } from '@media-services/rate-limit';
import type { BgRemovalConfig } from './config.js';
import { errorTable } from './errors.js';
import { inferenceCapacity, thisMachine } from './inference/capacity.js';
import { MattingEngine, type MattingEngineOptions } from './inference/matting-engine.js';
import { PixelPool } from './threads/pixel-pool.js';
import { removeBackgroundRoute } from './api/remove-background.js';
import { admission } from './api/admission.js';
import { lingerAfterEarlyAnswer, refuseLargeBody } from './api/body-limit.js';

const serviceName = 'bg-removal';
const packageJson = new URL('../package.json', import.meta.url);
const rateWindowMs = 60_000;

/** Replaced in tests only. */
export type ServiceOverrides = Pick<MattingEngineOptions, 'command' | 'probeCuda'>;

export interface BgRemovalService extends RunningService {
  /** Process ids of the inference processes. */
  enginePids(): number[];
}

/**
 * Builds the service and listens. The model is loaded meanwhile: health says 503 until it is warm.
 * @throws ConfigError when a port cannot be had
 */
export async function createBgRemovalService(
  config: BgRemovalConfig,
  overrides: ServiceOverrides = {},
): Promise<BgRemovalService> {
  const logger = createLogger({ service: serviceName, level: config.LOG_LEVEL });
  const metrics = createMetrics({ service: serviceName });
  const health = new HealthRegistry({ version: packageVersion(packageJson) });
  const capacity = inferenceCapacity(
    { processes: config.INFERENCE_PROCESSES, threads: config.INFERENCE_THREADS },
    thisMachine(),
  );
  const engine = new MattingEngine({ config, logger, metrics, capacity, ...overrides });
  const pixels = new PixelPool({ threads: config.PIXEL_THREADS });
  const rateLimiter = createRateLimiter({
    name: 'images-per-minute',
    limit: config.IMAGES_PER_MINUTE,
    windowMs: rateWindowMs,
    redisUrl: config.REDIS_URL,
    prefix: `${serviceName}:rate:`,
    logger,
    refusal: (seconds, limit) => rateRefusal(config, seconds, limit),
  });
  metrics.gauge({
    name: 'media_rate_limit_degraded',
    help: '1 while each replica counts for itself because Redis is away.',
    collect: (gauge) => gauge.set(rateLimiter.status().status === 'degraded' ? 1 : 0),
  });
  health.add('engine', { check: () => Promise.resolve(engine.health()), cacheMs: 0 });
  health.add('rateLimit', { check: () => Promise.resolve({ ...rateLimiter.status() }), cacheMs: 0 });
  health.add('upload', { check: () => Promise.resolve(acceptedUploads(config)), cacheMs: 0 });

  const app = createHttpApp({
    logger,
    metrics,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    errors: errorTable,
    docsBaseUrl: config.DOCS_BASE_URL || config.BASE_PATH,
    routes: (router) => {
      methods(router, '/api/health', { get: health.handler });
      methods(router, '/api/remove-background', {
        post: [
          lingerAfterEarlyAnswer(),
          rateLimiter.middleware,
          admission(capacity.processes + config.MAX_QUEUE),
          refuseLargeBody(config.MAX_FILE_BYTES),
          removeBackgroundRoute({
            engine,
            pixels,
            maxPixels: config.MAX_PIXELS,
            maxFileBytes: config.MAX_FILE_BYTES,
            timeoutMs: config.REQUEST_TIMEOUT_SECONDS * 1000,
          }),
        ],
      });
    },
  });
  const service = await runService({
    app,
    config,
    metrics,
    health,
    logger,
    dispose: async () => {
      await engine[Symbol.asyncDispose]();
      await pixels[Symbol.asyncDispose]();
      await rateLimiter[Symbol.asyncDispose]();
    },
  });
  engine.start().catch((error: unknown) => {
    // Also when the service is stopped before the model is warm.
    logger.warn({ err: error }, 'the engine was not started');
  });
  return { ...service, enginePids: () => engine.pids() };
}

/** What the web page tells its readers before they send anything. */
function acceptedUploads({ MAX_FILE_BYTES, MAX_PIXELS, IMAGES_PER_MINUTE }: BgRemovalConfig) {
  return {
    status: 'ok' as const,
    maxFileBytes: MAX_FILE_BYTES,
    maxPixels: MAX_PIXELS,
    imagesPerMinute: IMAGES_PER_MINUTE,
  };
}

function rateRefusal({ OPERATOR_CONTACT: contact }: BgRemovalConfig, seconds: number, limit: number): string {
  const more = contact === '' ? '' : ` For more, contact ${contact}.`;
  return `This client has sent ${limit} images in the last 60 seconds, which is the limit. Wait ${seconds} s.${more}`;
}
