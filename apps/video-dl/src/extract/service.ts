import { readFile } from 'node:fs/promises';
import { EngineJobError, EngineMemoryError } from '@media-services/processes';
import { DomainError, type Logger, type Metrics } from '@media-services/http-common';
import type { EgressProxy, EgressSession, Guard } from '@media-services/egress-guard';
import { SingleFlight } from '../single-flight.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { DownloadEngine } from './engine.js';
import { targetSpecs, type RawExtraction } from './engine-messages.js';
import { ExtractionCache } from './cache.js';
import type { ExtractorArguments } from './extractor-arguments.js';
import { codedError, extractionError } from './failures.js';
import { withProbedDetails, type ProbeSource } from './probed-details.js';

import { toExtraction } from './to-extraction.js';
import type { Extraction } from './types.js';
import { parseVideoUrl } from './video-url.js';
import { ExtractionWarnings } from './warnings.js';

export interface ExtractionServiceOptions {
  readonly engine: DownloadEngine;
  readonly guard: Guard;
  readonly egress: EgressProxy;
  readonly probeSource: ProbeSource;
  readonly timeoutMs: number;
  /** Of everything that one extraction reads of a site. */
  readonly maxPageBytes: number;
  /** How long an extraction is reused whose URLs say nothing of their end. */
  readonly cacheMs: number;
  readonly cacheEntries: number;
  readonly cookiesFile?: string | undefined;
  readonly extractorArguments: ExtractorArguments;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface ExtractOptions {
  readonly signal: AbortSignal;
  /** Asks the site again although an extraction is at hand. */
  readonly fresh?: boolean;
  /** Who asks, for a fair share of the engines. */
  readonly client?: string | undefined;
  /** The outbound proxy to ask through; the one in use unless given. */
  readonly exit?: number | undefined;
}

interface Asked {
  readonly signal: AbortSignal;
  readonly client: string;
  readonly exit: number | undefined;
}

/** Answers of a site to the IP that asks, not to the page that is asked for. */
const turnedAwayCodes: ReadonlySet<string> = new Set(['bot_check', 'upstream_rate_limited']);
const maxCacheBytes = 64 * 1024 * 1024;
const maxSocketTimeoutMs = 15_000;
/** A page names any number of others; extractors of real sites open a few dozen connections. */
const maxPageConnections = 200;

/** From the URL of a page to what can be downloaded from it. */
export class ExtractionService {
  readonly #options: ExtractionServiceOptions;
  readonly #cache: ExtractionCache;
  readonly #flights = new SingleFlight<Extraction>();
  readonly #answers: ReturnType<typeof answerCounter>;
  readonly #warnings: ExtractionWarnings;
  /** The outbound proxy that sites are asked through, until one turns it away. */
  #exit = 0;
  #extractions = 0;

  constructor(options: ExtractionServiceOptions) {
    this.#options = options;
    this.#cache = new ExtractionCache({ maxEntries: options.cacheEntries, maxBytes: maxCacheBytes });
    this.#answers = answerCounter(options.metrics);
    this.#warnings = new ExtractionWarnings(options);
  }

  /** How many times a site was really asked. */
  get extractions(): number {
    return this.#extractions;
  }

  /** Why extraction works less well than it should at present, if so. */
  get degradation(): string | undefined {
    return this.#warnings.degradation(Date.now());
  }

  /**
   * Extracts a page, at most once at a time and not again while its media URLs live.
   * @throws DomainError with the cause's code; the signal's reason
   */
  async extract(
    pageUrl: string,
    { signal, fresh = false, client = '', exit }: ExtractOptions,
  ): Promise<Extraction> {
    const url = parseVideoUrl(pageUrl);
    const cached = fresh ? undefined : this.#cache.get(url, Date.now());
    if (cached !== undefined) {
      this.#answers.inc({ from: 'cache' });
      return cached;
    }
    const key = exit === undefined ? url : `${exit} ${url}`;
    this.#answers.inc({ from: this.#flights.has(key) ? 'shared' : 'site' });
    return this.#flights.run(key, signal, async (shared) => {
      const extraction = await this.#extractNow(url, { signal: shared, client, exit });
      this.#cache.set(url, extraction, Date.now());
      return extraction;
    });
  }

  /**
   * A newer URL of a format whose URL was refused; streams that are refused
   * together extract once.
   * @throws DomainError as `extract`, and where the format is no longer offered
   */
  async renew(pageUrl: string, { origin }: MediaSource, signal: AbortSignal): Promise<MediaSource> {
    const url = parseVideoUrl(pageUrl);
    if (origin === undefined) throw new Error('only a source of an extraction can be renewed');
    const cached = this.#cache.get(url, Date.now());
    const isNewer = cached !== undefined && cached.extractedAt > origin.extractedAt;
    const isReachable = cached?.formats.every(({ source }) => source.origin?.exit === origin.exit) === true;
    const extraction =
      isNewer && isReachable ? cached : await this.extract(url, { signal, fresh: true, exit: origin.exit });
    const format = extraction.formats.find(({ id }) => id === origin.formatId);
    if (format === undefined)
      throw codedError('upstream_error', url, new Error('a format is no longer offered'));
    return format.source;
  }

  /** One deadline over all of it; the engine's share is what the address check has left. */
  async #extractNow(url: string, asked: Asked): Promise<Extraction> {
    const { signal: shared, client } = asked;
    const { guard, timeoutMs, cacheMs, probeSource } = this.#options;
    const endsAt = performance.now() + timeoutMs;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(codedError('upstream_timeout', url)), timeoutMs);
    const signal = AbortSignal.any([shared, deadline.signal]);
    try {
      await guard.checkUrl(new URL(url), signal);
      const { raw, exit } = await this.#throughAnExit(asked.exit, async (through) => {
        const timeLeftMs = Math.max(1, endsAt - performance.now());
        return this.#runEngine(url, { timeoutMs: timeLeftMs, signal: shared, client, exit: through });
      });
      this.#warnings.note(raw.warnings, new URL(url).host, Date.now());
      refuseUnfinished(raw, url);
      const context = { requestUrl: url, now: Date.now(), defaultLifeMs: cacheMs, exit };
      const extraction = await withProbedDetails(
        toExtraction(raw, context),
        (source, probeSignal) => probeSource(source, probeSignal, client),
        signal,
      );
      return { ...extraction, thumbnail: await this.#publicThumbnail(extraction.thumbnail, signal) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** A page can name any URL as its picture, and whoever shows the answer of `/api/info` loads it. */
  async #publicThumbnail(thumbnail: string | null, signal: AbortSignal): Promise<string | null> {
    if (thumbnail === null) return null;
    try {
      await this.#options.guard.checkUrl(new URL(thumbnail), signal);
      return thumbnail;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError) return null;
      throw error;
    }
  }

  /** The next outbound proxy is taken, for this page and those after it, where a site turns one away. */
  async #throughAnExit(
    pinned: number | undefined,
    ask: (exit: number) => Promise<RawExtraction>,
  ): Promise<{ raw: RawExtraction; exit: number }> {
    const { exits } = this.#options.guard;
    for (let attempt = 1; ; attempt += 1) {
      const exit = pinned ?? this.#exit;
      try {
        return { raw: await ask(exit), exit };
      } catch (error) {
        const isTurnedAway = error instanceof DomainError && turnedAwayCodes.has(error.code);
        if (!isTurnedAway || pinned !== undefined) throw error;
        if (this.#exit === exit) this.#exit = (exit + 1) % exits;
        if (attempt >= exits) throw error;
      }
    }
  }

  async #runEngine(
    url: string,
    run: { timeoutMs: number; signal: AbortSignal; client: string; exit: number },
  ): Promise<RawExtraction> {
    const { engine, egress, cookiesFile, maxPageBytes, extractorArguments } = this.#options;
    const { timeoutMs, signal } = run;
    const session = egress.openSession({
      exit: run.exit,
      maxBytes: maxPageBytes,
      maxConnections: maxPageConnections,
      onExceeded: (what) => tooMuch(what, maxPageBytes),
    });
    // A cancelled job's connections end at once, not when yt-dlp gets to know.
    const cut = (): void => session.close();
    signal.addEventListener('abort', cut, { once: true });
    this.#extractions += 1;
    try {
      const result = await engine.run(
        {
          kind: 'extract',
          url,
          proxyUrl: session.proxyUrl,
          socketTimeoutSeconds: Math.min(maxSocketTimeoutMs, timeoutMs * 0.4) / 1000,
          targets: targetSpecs,
          extractorArguments,
          ...(cookiesFile !== undefined && { cookies: await readFile(cookiesFile, 'utf8') }),
        },
        run,
      );
      if (result.kind !== 'extraction') throw new Error(`the download engine answered with ${result.kind}`);
      return result;
    } catch (error) {
      throw this.#engineError(error, session, url);
    } finally {
      signal.removeEventListener('abort', cut);
      session.close();
    }
  }

  #engineError(error: unknown, session: EgressSession, url: string): unknown {
    if (session.exceeded !== undefined) return session.exceeded;
    if (error instanceof EngineJobError) return extractionError(error.payload, session.failures, url);
    if (error instanceof EngineMemoryError)
      return new DomainError('upstream_error', largePage, { cause: error });
    // The engine spends its time on waiting for the site.
    if (error instanceof DomainError && error.code === 'timeout') {
      return session.failures.at(-1) ?? codedError('upstream_timeout', url, error);
    }
    return error;
  }
}

const largePage = 'The page is larger than this service can look at. Send the URL of a single video.';

function tooMuch(what: 'bytes' | 'connections', maxPageBytes: number): DomainError {
  const bound =
    what === 'bytes'
      ? `The site sent more than ${maxPageBytes} bytes for this page (MAX_PAGE_BYTES).`
      : `The page leads to more than ${maxPageConnections} others.`;
  return new DomainError('upstream_error', `${bound} Send the URL of a single video.`);
}

function answerCounter(metrics: Metrics) {
  return metrics.counter({
    name: 'media_extractions_total',
    help: 'Extractions asked for, by where the answer comes from: the site, a running extraction, the cache.',
    labelNames: ['from'],
  });
}

/** Live media have no end to wait for, and a premiere has nothing yet. */
function refuseUnfinished(raw: RawExtraction, url: string): void {
  if (raw.live_status === 'is_upcoming') throw codedError('not_started', url);
  if (raw.live_status === 'is_live' || raw.live_status === 'post_live' || raw.is_live) {
    throw codedError('live_not_supported', url);
  }
  if (raw.formats.length === 0) throw codedError('no_media', url);
}
