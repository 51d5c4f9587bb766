import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, type Logger, type Metrics } from '@media-services/http-common';
import { EngineSupervisor, engineMetrics } from '@media-services/processes';
import { z } from 'zod';
import {
  engineReadySchema,
  engineResultSchema,
  type EngineJob,
  type EngineReady,
  type EngineResult,
} from './engine-messages.js';

export type DownloadEngine = EngineSupervisor<EngineJob, EngineResult, EngineReady>;

export interface DownloadEngineOptions {
  /** A Python interpreter that can import yt_dlp. */
  readonly python: string;
  /** The engine's program; the project's own unless given. */
  readonly script?: string | undefined;
  readonly poolSize: number;
  readonly maxQueue: number;
  readonly jobTimeoutMs: number;
  readonly recycleAfterJobs: number;
  /** Extractions of one client at the same time. */
  readonly maxRunningPerClient: number;
  /** Of one process with what it starts, while a job runs; idle ones above it are restarted; 0 for no limit. */
  readonly maxMemoryBytes: number;
  /** Loopback port of the egress proxy, the only one that an engine may connect to. */
  readonly proxyPort: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export const engineScript = fileURLToPath(new URL('../../engine/main.py', import.meta.url));

/** The supervised pool of Python processes that keep yt-dlp imported. */
export function createDownloadEngine(options: DownloadEngineOptions): DownloadEngine {
  const { logger, metrics, python, script = engineScript, maxMemoryBytes, proxyPort, ...limits } = options;
  const ports = ['--proxy-port', String(proxyPort)];
  const engine: DownloadEngine = new EngineSupervisor<EngineJob, EngineResult, EngineReady>({
    ...limits,
    recycleAboveBytes: maxMemoryBytes,
    maxMemoryBytes,
    name: 'download engine',
    logger,
    spawn: () => ({
      file: python,
      args: ['-u', script, ...ports, '--max-memory-bytes', String(maxMemoryBytes)],
    }),
    channel: 'json-lines',
    readySchema: engineReadySchema,
    resultSchema: engineResultSchema,
    // The first import on a slow disk compiles some 1800 extractors.
    readyTimeoutMs: 120_000,
    cancelGraceMs: 500,
    killGraceMs: 500,
    onEvent: engineMetrics(metrics, () => engine.health()),
  });
  return engine;
}

const recordSchema = z.object({ python: z.string().min(1) });

/**
 * The interpreter that runs the download engine: the configured one, else the one
 * that set-up recorded (`packages/set-up`).
 *
 * @throws ConfigError when there is neither
 */
export async function locatePython(configured: string): Promise<string> {
  if (configured !== '') return configured;
  const record = resolve(dirname(engineScript), '.venv', 'engine.json');
  try {
    const { python } = recordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
    // Relative where set-up made the environment itself, so that the folder can be copied.
    return resolve(dirname(record), python);
  } catch (error) {
    throw new ConfigError([
      `YTDLP_PYTHON is not set and set-up has recorded no download engine (${error instanceof Error ? error.name : 'unknown'}). Run \`npm run setup\`, or set it to a Python interpreter that can import yt_dlp`,
    ]);
  }
}
