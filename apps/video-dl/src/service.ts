import type { LookupFn } from '@media-services/egress-guard';
import {
  ConfigError,
  createHttpApp,
  createLogger,
  createMetrics,
  HealthRegistry,
  methods,
  packageVersion,
  runService,
  thisMachine,
  type Logger,
  type Metrics,
  type RunningService,
} from '@media-services/http-common';
import { createRateLimiter } from '@media-services/rate-limit';
import { downloadEngineCheck, muxingEngineCheck, parsersCheck } from './api/health.js';
import { infoHandler } from './api/info.js';
import { audioStreamHandler, videoStreamHandler } from './api/stream.js';
import { capacityOf, extractionQueue, streamLimits } from './capacity.js';
import type { Config } from './config.js';
import { errorTable } from './errors.js';
import {
  createDownloadEngine,
  type DownloadEngine,
  type EngineProgram,
  locatePython,
} from './extract/engine.js';
import { parseExtractorArguments } from './extract/extractor-arguments.js';
import { createProbeSource } from './look/media-header.js';
import { startPotBridge } from './extract/pot-bridge.js';
import { ExtractionService } from './extract/service.js';
import { EngineUpdater } from './extract/update.js';
import { locateMediaTools } from './ffmpeg/tools.js';
import { createNetwork } from './network.js';
import { StreamingService } from './deliver/service.js';

const serviceName = 'video-dl';
/** Threads of each decoder and encoder. More gain little and take memory. */
const threadsPerCodec = 4;
const packageJson = new URL('../package.json', import.meta.url);

/** Everything that handlers may use, built once. */
export type AppContext = Awaited<ReturnType<typeof createContext>>;

/** What tests put in the place of the real thing. */
export interface ContextOverrides {
  /** Program of the download engine. */
  readonly engineScript?: string | undefined;
  /** Name resolution of the guard. */
  readonly lookup?: LookupFn | undefined;
  readonly logger?: Logger | undefined;
}

/** A running video-dl with its context, for tests. */
export interface VideoDlService extends RunningService {
  readonly context: AppContext;
}

/**
 * Starts the service. It listens immediately and is healthy once its engines are.
 * @throws ConfigError when a required program is missing
 */
export async function createVideoDlService(
  config: Config,
  overrides: ContextOverrides = {},
): Promise<VideoDlService> {
  const logger = overrides.logger ?? createLogger({ service: serviceName, level: config.LOG_LEVEL });
  const metrics = createMetrics({ service: serviceName, version: packageVersion(packageJson) });
  const context = await createContext(config, { logger, metrics }, overrides);
  const health = new HealthRegistry({
    version: packageVersion(packageJson),
    limits: { videoMaxSeconds: config.VIDEO_MAX_SECONDS, streamMaxBytes: config.STREAM_MAX_BYTES },
  });
  health.add('downloadEngine', downloadEngineCheck(context));
  health.add('muxingEngine', muxingEngineCheck(context.tools, context.capacity));
  health.add('parsers', parsersCheck(context));

  // Applies to API keys only; the gateway limits everyone else.
  const rateLimiter = await createRateLimiter({
    name: 'videos-per-minute',
    limit: 0,
    windowMs: 60_000,
    redisUrl: config.REDIS_URL,
    prefix: `${serviceName}:rate:`,
    logger,
    rejectionDetail: (seconds, limit) =>
      `This key has reached its limit of ${limit} requests in 60 seconds. Wait ${seconds} s.`,
  });
  const app = createHttpApp({
    logger,
    metrics,
    trustProxyHops: config.TRUST_PROXY_HOPS,
    gatewaySecret: config.GATEWAY_SECRET,
    errors: errorTable,
    docsBaseUrl: config.BASE_PATH,
    routes: (router) => {
      const { middleware: limit } = rateLimiter;
      methods(router, '/api/info', {
        get: [limit, infoHandler({ ...context, basePath: config.BASE_PATH })],
      });
      methods(router, '/api/stream', { get: [limit, audioStreamHandler(context)] });
      methods(router, '/api/stream/video', { get: [limit, videoStreamHandler(context)] });
      methods(router, '/api/health', { get: health.handler });
    },
  });
  const service = await runService({
    app,
    config,
    metrics,
    health,
    logger,
    dispose: async () => {
      await context.dispose();
      await rateLimiter[Symbol.asyncDispose]();
    },
  });
  warmUp(context, health);
  return { ...service, context };
}

/** Starts the engines while the port is already open, and fills the health cache once they are ready. */
function warmUp({ engine, parsers, updater, config, logger }: AppContext, health: HealthRegistry): void {
  // Only happens when the service stops.
  const log = (error: unknown) =>
    logger.debug({ err: error }, 'the service stopped before its engines were ready');
  parsers.start().catch(log);
  engine.start().then(async () => {
    if (config.YTDLP_UPDATES !== 'off') updater.start();
    await health.report();
  }, log);
}

/** @throws ConfigError when Python or ffmpeg can't be found */
async function createContext(
  config: Config,
  observability: { readonly logger: Logger; readonly metrics: Metrics },
  { engineScript, lookup }: ContextOverrides = {},
) {
  const capacity = capacityOf(config, thisMachine());
  const [python, tools] = await allConfigured([
    locatePython(config.YTDLP_PYTHON),
    locateMediaTools({ ffmpegPath: config.FFMPEG_PATH || undefined, threads: threadsPerCodec }),
  ]);
  const { logger, metrics } = observability;
  const network = await createNetwork(config, { ...observability, lookup });
  const { guard, heads, relay, parsers, egress, trustedRoots } = network;
  const timeoutMs = config.EXTRACTION_TIMEOUT_SECONDS * 1000;
  const potBridge =
    config.POT_PROVIDER_URL === '' ? undefined : await startPotBridge(config.POT_PROVIDER_URL, logger);
  const program: EngineProgram = {
    python,
    script: engineScript,
    proxyPort: egress.port,
    potProviderPort: potBridge?.port,
    trustedRootsFile: trustedRoots?.file,
    maxMemoryBytes: config.ENGINE_MEMORY_MAX_BYTES,
  };
  const engine = createDownloadEngine({
    program,
    poolSize: capacity.engines,
    maxQueue: extractionQueue,
    jobTimeoutMs: timeoutMs,
    ...observability,
  });
  reportEngineAge(metrics, engine);
  const extraction = new ExtractionService({
    engine,
    guard,
    egress,
    probeSource: createProbeSource({ heads, relay, tools, maxMs: Math.ceil(timeoutMs / 2) }),
    timeoutMs,
    maxPageBytes: config.PAGE_MAX_BYTES,
    cookiesFile: config.COOKIES_FILE || undefined,
    extractorArguments: parseExtractorArguments(config.YTDLP_EXTRACTOR_ARGS),
    ...observability,
  });
  const channel = config.YTDLP_UPDATES === 'off' ? 'stable' : config.YTDLP_UPDATES;
  const updater = new EngineUpdater({ engine, program, channel, ...observability });
  const streaming = new StreamingService({
    ...network,
    ...observability,
    extraction,
    tools,
    planSettings: {
      maxDurationSeconds: config.VIDEO_MAX_SECONDS,
      maxOutputBytes: config.STREAM_MAX_BYTES,
      mp4Video: config.MP4_VIDEO,
    },
    limits: streamLimits(config, capacity),
  });
  // Downstream first: whatever writes to clients ends before its sources.
  const owned = [streaming, updater, potBridge, engine, relay, parsers, egress, trustedRoots];
  /** Ends processes and connections. Called last. */
  const dispose = async (): Promise<void> => {
    for (const each of owned) await each?.[Symbol.asyncDispose]();
  };
  const used = { config, capacity, tools, engine, updater, extraction, streaming, parsers, trustedRoots };
  return { ...used, ...observability, dispose };
}

function reportEngineAge(metrics: Metrics, engine: DownloadEngine): void {
  metrics.gauge({
    name: 'media_ytdlp_age_seconds',
    help: 'Age of the yt-dlp in use.',
    labelNames: ['version'],
    collect: (gauge) => {
      gauge.reset();
      const ready = engine.health().ready;
      if (ready !== undefined && ready.ageDays !== null)
        gauge.set({ version: ready.version }, ready.ageDays * 86_400);
    },
  });
}

/** Like Promise.all, but reports every configuration problem at once. */
async function allConfigured<A, B>(parts: readonly [Promise<A>, Promise<B>]): Promise<[A, B]> {
  const outcomes = await Promise.allSettled(parts);
  const problems = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' && outcome.reason instanceof ConfigError ? outcome.reason.problems : [],
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return Promise.all(parts);
}
