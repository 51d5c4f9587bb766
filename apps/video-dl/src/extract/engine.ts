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

interface DownloadEngineOptions {
  readonly program: EngineProgram;
  readonly poolSize: number;
  readonly maxQueue: number;
  readonly jobTimeoutMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** How to start an engine process. */
export interface EngineProgram {
  /** A Python interpreter that can import yt_dlp. */
  readonly python: string;
  /** The engine's program; defaults to the project's own. */
  readonly script?: string | undefined;
  /** Folder of packages that take precedence over the interpreter's own. An update changes it for the next process. */
  packages?: string | undefined;
  /** Loopback port of the egress proxy. Engines may connect only to this and `potProviderPort`. */
  readonly proxyPort: number;
  /** Loopback port of the bridge to the PO token provider, if there is one. */
  readonly potProviderPort?: number | undefined;
  /** PEM file of the only certificate authorities to trust; defaults to the usual ones. */
  readonly trustedRootsFile?: string | undefined;
  /** Of a process, and of its children too during a job. An idle process above it is restarted. 0 for no limit. */
  readonly maxMemoryBytes: number;
}

/** The command line of an engine process. */
export function engineCommand(
  program: EngineProgram,
): EngineCommand & { readonly env: Record<string, string> } {
  const { python, script = engineScript, ...options } = program;
  const pythonPath = process.env['PYTHONPATH'];
  return {
    file: python,
    // The image's entry point installs a newer yt-dlp there.
    env: pythonPath === undefined ? {} : { PYTHONPATH: pythonPath },
    args: ['-u', script, JSON.stringify(options)],
  };
}

const engineScript = fileURLToPath(new URL('../../engine/main.py', import.meta.url));

/** Restarting releases memory that a long-running Python process holds on to. */
const recycleAfterJobs = 500;

/** The supervised pool of Python processes that keep yt-dlp imported. */
export function createDownloadEngine(options: DownloadEngineOptions): DownloadEngine {
  const { metrics, program, ...others } = options;
  const engine: DownloadEngine = new EngineSupervisor<EngineJob, EngineResult, EngineReady>({
    ...others,
    recycleAfterJobs,
    recycleAboveBytes: program.maxMemoryBytes,
    maxMemoryBytes: program.maxMemoryBytes,
    // Slow pages of one client leave an engine for others.
    maxRunningPerClient: Math.max(1, options.poolSize - 1),
    lendsEngines: true,
    name: 'download engine',
    spawn: () => engineCommand(program),
    channel: 'json-lines',
    readySchema: engineReadySchema,
    resultSchema: engineResultSchema,
    // The first import compiles about 1800 extractors, which is slow on a slow disk.
    readyTimeoutMs: 120_000,
    cancelGraceMs: 500,
    killGraceMs: 500,
    // At a start, the first engine and everything else that starts need the processor more.
    othersAfterMs: 5_000,
    onEvent: engineMetrics(metrics, () => engine.health()),
  });
  return engine;
}

const recordSchema = z.object({ python: z.string().min(1) });

/**
 * The Python interpreter for the download engine: the configured one, or else the one
 * recorded at set-up (`packages/stack`).
 *
 * @throws ConfigError when there is neither
 */
export async function locatePython(configured: string): Promise<string> {
  if (configured !== '') return configured;
  const record = resolve(dirname(engineScript), '.venv', 'engine.json');
  try {
    const { python } = recordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
    // Relative if set-up created the environment, so that the folder can be copied.
    return resolve(dirname(record), python);
  } catch (error) {
    throw new ConfigError([
      `YTDLP_PYTHON is not set and set-up has recorded no download engine (${error instanceof Error ? error.name : 'unknown'}). Run \`npm run setup\`, or set it to a Python interpreter that can import yt_dlp`,
    ]);
  }
}
