import type { CheckOptions } from '@media-services/http-common';
import type { DownloadEngine } from '../extraction/index.js';
import { checkMuxing } from '../media/muxing-check.js';
import type { MediaTools } from '../media/tools.js';

/** Sites change: an engine older than this fails on many of them. */
const staleAfterDays = 90;
const extractionCacheMs = 5_000;
/** Encoding costs 0.2 s of a processor. */
const muxingCacheMs = 30_000;

/** The download engine extracts its built-in page. */
export function downloadEngineCheck(engine: DownloadEngine): CheckOptions {
  return {
    cacheMs: extractionCacheMs,
    check: async (signal) => {
      const state = engine.health();
      const pool = { engines: state.enginesReady, queueLength: state.queueLength, restarts: state.restarts };
      if (state.ready === undefined) {
        return {
          status: state.status === 'failing' ? 'error' : 'starting',
          ...pool,
          ...(state.lastError !== undefined && {
            message: 'The download engine does not start; see the log.',
          }),
        };
      }
      // An engine with a page at hand is at work; the check does not wait in line behind it.
      const isBusy = state.active >= state.enginesReady;
      if (!isBusy) await engine.run({ kind: 'health' }, { signal });
      const { version, ageDays, javascriptRuntime } = state.ready;
      const isStale = ageDays !== null && ageDays > staleAfterDays;
      return {
        status: isStale ? 'degraded' : 'ok',
        version,
        ageDays,
        javascriptRuntime,
        ...pool,
        ...(isStale && { message: `yt-dlp is older than ${staleAfterDays} days; update it.` }),
      };
    },
  };
}

/** ffmpeg encodes and muxes a second of generated signal. */
export function muxingEngineCheck(tools: MediaTools): CheckOptions {
  return {
    cacheMs: muxingCacheMs,
    check: async (signal) => {
      await checkMuxing(tools, signal);
      return { status: 'ok', version: tools.version };
    },
  };
}
