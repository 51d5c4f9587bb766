import type { Logger, Metrics } from '@media-services/http-common';
import { plainWords, warningKind, type WarningKind } from './failure-causes.js';

/** Kinds that mean yt-dlp uses a fallback, which offers fewer formats and may stop working any time. */
const degrading: Partial<Record<WarningKind, string>> = {
  no_javascript_runtime:
    'A site requires JavaScript, but no JavaScript runtime is installed, so some formats are missing.',
  challenge_failed:
    "yt-dlp couldn't solve a site's player script and uses a fallback, so some formats are missing. Update yt-dlp.",
};

/** How long /api/health reports such an extraction. */
const rememberedMs = 15 * 60 * 1000;

/** Logs and counts the warnings of successful extractions, and reports them to /api/health. */
export class ExtractionWarnings {
  readonly #logger: Logger;
  readonly #counter;
  readonly #lastSeen = new Map<WarningKind, number>();

  constructor({ logger, metrics }: { logger: Logger; metrics: Metrics }) {
    this.#logger = logger;
    this.#counter = metrics.counter({
      name: 'media_extraction_warnings_total',
      help: 'Successful extractions with a warning from the download engine, by kind of warning.',
      labelNames: ['kind'],
    });
  }

  /** @param now milliseconds since the epoch */
  note(warnings: readonly string[], host: string, now: number): void {
    if (warnings.length === 0) return;
    const kinds = new Set(warnings.map(warningKind));
    for (const kind of kinds) {
      this.#counter.inc({ kind });
      this.#lastSeen.set(kind, now);
    }
    const said = warnings.map(plainWords);
    this.#logger.info({ host, kinds: [...kinds], warnings: said }, 'an extraction succeeded with warnings');
  }

  /** Why extraction is degraded; undefined if no such warning occurred recently. */
  degradation(now: number): string | undefined {
    return Object.entries(degrading).find(
      ([kind]) => now - (this.#lastSeen.get(kind as WarningKind) ?? -Infinity) < rememberedMs,
    )?.[1];
  }
}
