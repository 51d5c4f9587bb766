import type { CheckOptions } from '@media-services/http-common';
import type { Capacity } from '../capacity.js';
import type { DownloadEngine } from '../extract/engine.js';
import type { ExtractionService } from '../extract/service.js';
import { checkMuxing } from '../ffmpeg/self-check.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import type { ParserPool } from '../parser-process/parser-pool.js';

/** Sites change. An older engine fails on many of them. */
const staleAfterDays = 90;

interface CheckedEngine {
  readonly engine: DownloadEngine;
  readonly extraction: Pick<ExtractionService, 'degradation'>;
}

/** The download engine extracts its built-in page. */
export function downloadEngineCheck({ engine, extraction }: CheckedEngine): CheckOptions {
  return {
    cacheMs: 5_000,
    check: async (signal) => {
      const state = engine.health();
      const pool = { engines: state.enginesReady, queueLength: state.queueLength, restarts: state.restarts };
      if (state.ready === undefined) {
        return {
          status: state.status === 'failing' ? 'error' : 'starting',
          ...pool,
          ...(state.lastError !== undefined && {
            message: "The download engine doesn't start; see the log.",
          }),
        };
      }
      // Busy engines are working, so the check doesn't queue behind their jobs.
      const isBusy = state.active >= state.enginesReady;
      if (!isBusy) await engine.run({ kind: 'health' }, { signal });
      const { version, ageDays, javascriptRuntime, networkLock, potProvider } = state.ready;
      const { degradation } = extraction;
      const problems = [
        ageDays !== null &&
          ageDays > staleAfterDays &&
          `yt-dlp is older than ${staleAfterDays} days; update it.`,
        javascriptRuntime === null && "yt-dlp found no JavaScript runtime, so YouTube doesn't work.",
        degradation,
      ].filter((problem) => typeof problem === 'string');
      return {
        status: problems.length > 0 ? 'degraded' : 'ok',
        version,
        ageDays,
        javascriptRuntime,
        networkLock,
        ...(potProvider !== null && { potProvider }),
        ...pool,
        ...(problems.length > 0 && { message: problems.join(' ') }),
      };
    },
  };
}

/** A parser process parses a small playlist. */
export function parsersCheck({ parsers }: { readonly parsers: ParserPool }): CheckOptions {
  return {
    cacheMs: 5_000,
    check: async (signal) => {
      const { status, enginesReady, enginesFailing, active, queueLength, restarts } = parsers.health();
      const pool = { processes: enginesReady, queueLength, restarts };
      if (status === 'failing')
        return { status: 'error', ...pool, message: "The parser processes don't start; see the log." };
      if (status === 'starting' && restarts === 0) return { status, ...pool };
      // Busy processes are working, so the check doesn't queue behind their jobs.
      if (active < enginesReady) await parsers.selfCheck(signal);
      // A hostile file may just have crashed both. That is no reason to take the service out of rotation.
      if (enginesFailing > 0 || enginesReady === 0)
        return { status: 'degraded', ...pool, message: 'Parser processes are being restarted; see the log.' };
      return { status: 'ok', ...pool };
    },
  };
}

/** ffmpeg encodes and muxes one second of a generated signal. */
export function muxingEngineCheck(tools: MediaTools, { streams }: Capacity): CheckOptions {
  return {
    // The check takes 0.2 s of CPU time.
    cacheMs: 30_000,
    check: async (signal) => {
      await checkMuxing(tools, signal);
      return { status: 'ok', version: tools.version, maxStreams: streams };
    },
  };
}
