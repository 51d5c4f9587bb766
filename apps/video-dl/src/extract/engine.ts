import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError, type Logger, type Metrics } from '@media-services/http-common';
import { EngineSupervisor, engineMetrics, type EngineCommand } from '@media-services/processes';
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
  readonly program: EngineProgram;
  readonly poolSize: number;
  readonly maxQueue: number;
  readonly jobTimeoutMs: number;
  readonly recycleAfterJobs: number;
  /** Extractions of one client at the same time. */
  readonly maxRunningPerClient: number;
  /** Of one process with what it starts, while a job runs; idle ones above it are restarted; 0 for no limit. */
  readonly maxMemoryBytes: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** What an engine process is started with. */
export interface EngineProgram {
  /** A Python interpreter that can import yt_dlp. */
  readonly python: string;
  /** The engine's program; the project's own unless given. */
  readonly script?: string | undefined;
  /** Folder whose packages come before the interpreter's own; an update changes it for the next process. */
  packages?: string | undefined;
  /** Loopback port of the egress proxy, the only one that an engine may connect to. */
  readonly proxyPort: number;
  /** Loopback port that leads to the PO token provider, where there is one. */
  readonly potProviderPort?: number | undefined;
  /** PEM file of the only certificate authorities to trust; the usual ones unless given. */
  readonly trustedRootsFile?: string | undefined;
  /** Most data of the Python process; 0 for no limit. */
  readonly maxMemoryBytes: number;
}

/** The command line of an engine process. */
export function engineCommand(
  program: EngineProgram,
): EngineCommand & { readonly env: Record<string, string> } {
  const { python, script = engineScript, packages, proxyPort, maxMemoryBytes } = program;
  const { potProviderPort, trustedRootsFile } = program;
  const pythonPath = process.env['PYTHONPATH'];
  return {
    file: python,
    // Where the image's entry point puts a newer yt-dlp.
    env: pythonPath === undefined ? {} : { PYTHONPATH: pythonPath },
    args: [
      ...['-u', script, '--proxy-port', String(proxyPort), '--max-memory-bytes', String(maxMemoryBytes)],
      ...(potProviderPort === undefined ? [] : ['--pot-provider-port', String(potProviderPort)]),
      ...(trustedRootsFile === undefined ? [] : ['--trusted-roots', trustedRootsFile]),
      ...(packages === undefined ? [] : ['--packages', packages]),
    ],
  };
}

const engineScript = fileURLToPath(new URL('../../engine/main.py', import.meta.url));

/** The supervised pool of Python processes that keep yt-dlp imported. */
export function createDownloadEngine(options: DownloadEngineOptions): DownloadEngine {
  const { logger, metrics, program, ...limits } = options;
  const engine: DownloadEngine = new EngineSupervisor<EngineJob, EngineResult, EngineReady>({
    ...limits,
    recycleAboveBytes: limits.maxMemoryBytes,
    name: 'download engine',
    logger,
    spawn: () => engineCommand(program),
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
 * that set-up recorded (`packages/stack`).
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
