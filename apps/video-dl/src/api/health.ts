import type { CheckOptions } from '@media-services/http-common';
import type { Capacity } from '../capacity.js';
import type { DownloadEngine, ExtractionService } from '../extract/index.js';
import { checkMuxing } from '../ffmpeg/self-check.js';
import type { MediaTools } from '../ffmpeg/tools.js';

/** Sites change: an engine older than this fails on some of them, one older than the second on many. */
const agingAfterDays = 30;
const staleAfterDays = 90;
const extractionCacheMs = 5_000;
/** Encoding costs 0.2 s of a processor. */
const muxingCacheMs = 30_000;

interface CheckedEngine {
  readonly engine: DownloadEngine;
  readonly extraction: Pick<ExtractionService, 'degradation'>;
}

/** The download engine extracts its built-in page. */
export function downloadEngineCheck({ engine, extraction }: CheckedEngine): CheckOptions {
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
      const { version, ageDays, javascriptRuntime, networkLock, potProvider } = state.ready;
      const { degradation } = extraction;
      const problems = [
        ageDays !== null &&
          ageDays > staleAfterDays &&
          `yt-dlp is older than ${staleAfterDays} days; update it.`,
        javascriptRuntime === null &&
          'There is no JavaScript runtime that yt-dlp can use, without which YouTube does not work.',
        degradation,
      ].filter((problem) => typeof problem === 'string');
      const isAging = ageDays !== null && ageDays > agingAfterDays && ageDays <= staleAfterDays;
      const messages = isAging
        ? [...problems, `yt-dlp is older than ${agingAfterDays} days; update it soon.`]
        : problems;
      return {
        status: problems.length > 0 ? 'degraded' : 'ok',
        version,
        ageDays,
        javascriptRuntime,
        networkLock,
        ...(potProvider !== null && { potProvider }),
        ...pool,
        ...(messages.length > 0 && { message: messages.join(' ') }),
      };
    },
  };
}

interface CheckedMuxing {
  readonly tools: MediaTools;
  readonly capacity: Capacity;
}

/** ffmpeg encodes and muxes a second of generated signal. */
export function muxingEngineCheck({ tools, capacity }: CheckedMuxing): CheckOptions {
  return {
    cacheMs: muxingCacheMs,
    check: async (signal) => {
      await checkMuxing(tools, signal);
      return { status: 'ok', version: tools.version, maxStreams: capacity.streams };
    },
  };
}
