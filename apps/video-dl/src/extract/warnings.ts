import type { Logger, Metrics } from '@media-services/http-common';
import { plainWords, warningKind, type WarningKind } from './failures.js';

/** Kinds that mean we read a site by a fallback, which offers less and will stop working some day. */
const degrading: Partial<Record<WarningKind, string>> = {
  no_javascript_runtime:
    'A site requires JavaScript and there is no runtime for it: some formats are missing.',
  challenge_failed:
    'The player script of a site could not be solved, so a fallback is used: some formats are missing. Update yt-dlp.',
};

/** How long health reports one such extraction. */
const rememberedMs = 15 * 60 * 1000;

/** The warnings of extractions that succeeded anyway: logged, counted and reported to health. */
export class ExtractionWarnings {
  readonly #logger: Logger;
  readonly #counter: ReturnType<typeof warningCounter>;
  readonly #lastSeen = new Map<WarningKind, number>();

  constructor({ logger, metrics }: { logger: Logger; metrics: Metrics }) {
    this.#logger = logger;
    this.#counter = warningCounter(metrics);
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

  /** Why extraction works less well than it should, if so; for a while after it was seen. */
  degradation(now: number): string | undefined {
    return Object.entries(degrading).find(
      ([kind]) => now - (this.#lastSeen.get(kind as WarningKind) ?? -Infinity) < rememberedMs,
    )?.[1];
  }
}

function warningCounter(metrics: Metrics) {
  return metrics.counter({
    name: 'media_extraction_warnings_total',
    help: 'Extractions that succeeded with a warning of the download engine, by what it was about.',
    labelNames: ['kind'],
  });
}
