import { createGuard, type LookupFn } from '@media-services/egress-guard';
import {
  createHttpApp,
  createLogger,
  createMetrics,
  HealthRegistry,
  methods,
  minClientBytesPerMinute,
  packageVersion,
  runService,
  thisMachine,
  type RunningService,
} from '@media-services/http-common';
import { createRateLimiter } from '@media-services/rate-limit';
import type { BgRemovalConfig } from './config.js';
import { errorTable } from './errors.js';
import { inferenceBytes, inferenceCapacity } from './inference/choices.js';
import { expectedPrecision, MattingEngine, type MattingEngineOptions } from './inference/matting-engine.js';
import { lingerAfterEarlyResponse, multipartOverheadBytes, rejectLargeBody } from './api/body-limit.js';
import { isRejectedBeforeWork } from './api/refused-before-work.js';
import { removeBackgroundRoute } from './api/remove-background.js';
import { FairTurns } from './fair-turns.js';
import { imageLimits } from './images/image-limits.js';
import { pixelMemory } from './pixels/memory-budget.js';
import { PixelPool } from './pixels/pixel-pool.js';

const serviceName = 'bg-removal';
const packageJson = new URL('../package.json', import.meta.url);
const rateWindowMs = 60_000;
/** The period over which we measure a client's rate. It is longer than the pauses of a mobile network. */
const defaultPaceWindowMs = 10_000;
/** Maximum time from the first to the last byte of a response, however fast the client reads. */
const responseTimeoutMs = 300_000;

/** Replaced in tests only. */
export interface ServiceOverrides extends Pick<MattingEngineOptions, 'command'> {
  readonly paceWindowMs?: number;
  /** Of new pixel processes. */
  readonly warmUpRounds?: number;
  /** Name resolution of the guard. */
  readonly lookup?: LookupFn;
}

export interface BgRemovalService extends RunningService {
  /** Process ids of the inference processes. */
  enginePids(): number[];
}

/** Everything that the service owns, built once. */
type AppContext = Awaited<ReturnType<typeof createContext>>;

/**
 * Builds the service and listens. The model loads in the background; health returns 503 until
 * it is warm.
 * @throws ConfigError if a port is not available
 */
export async function createBgRemovalService(
  config: BgRemovalConfig,
  overrides: ServiceOverrides = {},
): Promise<BgRemovalService> {
  const context = await createContext(config, overrides);
  const { logger, metrics, engine, pixels, rateLimiter } = context;
  const health = createHealth(context);
  const app = createHttpApp({
    logger,
    metrics,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    gatewaySecret: config.GATEWAY_SECRET,
    errors: errorTable,
    docsBaseUrl: config.BASE_PATH,
    routes: (router) => {
      methods(router, '/api/health', { get: health.handler });
      methods(router, '/api/remove-background', { post: imageHandlers(context) });
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
  // While the model loads, it needs the processor more.
  const model = engine.start().then(() => pixels.warmUp());
  for (const starting of [model, pixels.start()]) {
    starting.catch((error: unknown) => {
      // This also happens if the service is stopped before the engines are warm.
      logger.warn({ err: error }, 'an engine was not started');
    });
  }
  return { ...service, enginePids: () => engine.pids() };
}

async function createContext(config: BgRemovalConfig, overrides: ServiceOverrides) {
  const { paceWindowMs = defaultPaceWindowMs, warmUpRounds, lookup, command } = overrides;
  const logger = createLogger({ service: serviceName, level: config.LOG_LEVEL });
  const metrics = createMetrics({ service: serviceName, version: packageVersion(packageJson) });
  const precision = await expectedPrecision(config);
  const capacity = inferenceCapacity(config.INFERENCE_PROCESSES, precision, thisMachine());
  /** Images being processed or waiting. */
  const slots = capacity.processes + config.IMAGE_QUEUE_MAX;
  const pixelProcesses = 2 * capacity.processes;
  const guard = config.IMAGE_URLS
    ? createGuard({
        allowedPrivateSources: config.ALLOWED_PRIVATE_SOURCES,
        blockedSources: config.BLOCKED_SOURCES,
        outboundProxy: config.OUTBOUND_PROXY,
        lookup,
      })
    : undefined;
  const engine = new MattingEngine({ config, logger, metrics, capacity, ...(command && { command }) });
  const pixels = new PixelPool({
    processes: pixelProcesses,
    maxQueue: slots,
    taskTimeoutMs: config.IMAGE_TIMEOUT_SECONDS * 1000,
    ...pixelMemory(thisMachine().memoryBytes - inferenceBytes(capacity, precision), pixelProcesses),
    warmUpRounds,
    logger,
  });
  const rateLimiter = await createRateLimiter({
    name: 'images-per-minute',
    limit: config.IMAGES_PER_MINUTE,
    windowMs: rateWindowMs,
    redisUrl: config.REDIS_URL,
    prefix: `${serviceName}:rate:`,
    logger,
    rejectionDetail: (seconds, limit) => rateRejection(config, seconds, limit),
  });
  metrics.gauge({
    name: 'media_rate_limit_degraded',
    help: '1 while each replica counts on its own because Redis is unavailable.',
    collect: (gauge) => gauge.set(rateLimiter.status().status === 'degraded' ? 1 : 0),
  });
  return { config, logger, metrics, guard, engine, pixels, rateLimiter, slots, pixelProcesses, paceWindowMs };
}

function createHealth({ config, engine, pixels, pixelProcesses, rateLimiter }: AppContext): HealthRegistry {
  const health = new HealthRegistry({
    version: packageVersion(packageJson),
    limits: {
      imageMaxBytes: config.IMAGE_MAX_BYTES,
      imageMaxPixels: config.IMAGE_MAX_PIXELS,
      imagesPerMinute: config.IMAGES_PER_MINUTE,
      imageTimeoutSeconds: config.IMAGE_TIMEOUT_SECONDS,
    },
    features: { imageUrls: config.IMAGE_URLS },
  });
  health.add('engine', { check: () => Promise.resolve(engine.health()), cacheMs: 0 });
  health.add('pixels', {
    check: () => Promise.resolve({ ...pixels.health(), processes: pixelProcesses }),
    cacheMs: 0,
  });
  health.add('rateLimit', { check: () => Promise.resolve({ ...rateLimiter.status() }), cacheMs: 0 });
  return health;
}

/** The handlers of `POST /api/remove-background`, in their order. */
function imageHandlers(context: AppContext) {
  const { config, engine, pixels, guard, rateLimiter, slots, pixelProcesses, paceWindowMs } = context;
  return [
    lingerAfterEarlyResponse(),
    rateLimiter.middleware,
    rejectLargeBody(config.IMAGE_MAX_BYTES),
    removeBackgroundRoute({
      engine,
      pixels,
      // Each image keeps its pixel process until it is done. More turns than processes would let a greedy client's images block others.
      turns: new FairTurns({ capacity: pixelProcesses, maxHeld: slots }),
      largeTurns: new FairTurns({ capacity: Math.max(1, pixelProcesses - 1), maxHeld: slots }),
      guard,
      limits: imageLimits(config.IMAGE_MAX_PIXELS),
      maxFileBytes: config.IMAGE_MAX_BYTES,
      maxUploadingBytes: slots * (config.IMAGE_MAX_BYTES + multipartOverheadBytes),
      // Two of the largest results, incompressible.
      maxSendingBytes: 2 * 4 * config.IMAGE_MAX_PIXELS,
      requestTimeoutMs: config.IMAGE_TIMEOUT_SECONDS * 1000,
      responseTimeoutMs,
      minRate: {
        bytesPerSecond: minClientBytesPerMinute / 60,
        windowMs: paceWindowMs,
      },
    }),
    rateLimiter.refundIf(isRejectedBeforeWork),
  ];
}

function rateRejection(
  { OPERATOR_CONTACT: contact }: BgRemovalConfig,
  seconds: number,
  limit: number,
): string {
  const more = contact === '' ? '' : ` For more, contact ${contact}.`;
  return `This client has sent ${limit} images in the last 60 seconds, which is the limit. Wait ${seconds} s.${more}`;
}
