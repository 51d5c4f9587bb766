import { fileURLToPath } from 'node:url';
import { EngineSupervisor, engineMetrics } from '@media-services/processes';
import type { Logger, Metrics } from '@media-services/http-common';
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
  readonly recycleAboveBytes: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export const engineScript = fileURLToPath(new URL('../../engine/main.py', import.meta.url));

/** The supervised pool of Python processes that keep yt-dlp imported. */
export function createDownloadEngine(options: DownloadEngineOptions): DownloadEngine {
  const { logger, metrics, python, script = engineScript, ...limits } = options;
  const engine: DownloadEngine = new EngineSupervisor<EngineJob, EngineResult, EngineReady>({
    ...limits,
    name: 'download engine',
    logger,
    spawn: () => ({ file: python, args: ['-u', script] }),
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
