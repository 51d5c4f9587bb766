import { readFile } from 'node:fs/promises';
import {
  type Claims,
  EngineJobError,
  EngineMemoryError,
  EngineTakenBackError,
} from '@media-services/processes';
import { DomainError, withDeadline, type Logger, type Metrics } from '@media-services/http-common';
import type { EgressProxy, EgressSession, Guard } from '@media-services/egress-guard';
import { SingleFlight } from '../single-flight.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { DownloadEngine } from './engine.js';
import { formatSelectors } from '../targets.js';
import type { RawExtraction } from './engine-messages.js';
import { ExtractionCache } from './cache.js';
import { Exits } from './exits.js';
import type { ExtractorArguments } from './extractor-arguments.js';
import { warningKind } from './failure-causes.js';
import { codedError, extractionError, pageTooLarge } from './failures.js';
import { spokenIn } from './languages.js';
import { withProbedDetails, type ProbeSource } from './probed-details.js';
import { toExtraction } from './to-extraction.js';
import type { Extraction } from './types.js';
import type { PageUrl } from './page-url.js';
import { ExtractionWarnings } from './warnings.js';

export interface ExtractionServiceOptions {
  readonly engine: DownloadEngine;
  readonly guard: Guard;
  readonly egress: EgressProxy;
  readonly probeSource: ProbeSource;
  readonly timeoutMs: number;
  /** Limit on the total that one extraction reads from a site. */
  readonly maxPageBytes: number;
  readonly cookiesFile?: string | undefined;
  readonly extractorArguments: ExtractorArguments;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

export interface ExtractOptions {
  readonly signal: AbortSignal;
  /** Extracts again even if the cache has the page. */
  readonly fresh?: boolean;
  /** The requesting client, for a fair share of the engines. */
  readonly client?: string | undefined;
  /** Number of the video on a page with several, from 1; defaults to the first that works. */
  readonly item?: number | undefined;
  /** The language of the audio; defaults to the original. */
  readonly language?: string | undefined;
  /** The outbound proxy to use; defaults to the current one for the page's host. */
  readonly exit?: number | undefined;
}

type Caller = Pick<ExtractOptions, 'signal' | 'client'>;
type RenewOptions = Caller & Pick<ExtractOptions, 'item'>;
type ExtractionRequest = Pick<ExtractOptions, 'signal' | 'item' | 'exit'> & { readonly claims: Claims };

const cacheLimits = { maxEntries: 200, maxBytes: 64 * 1024 * 1024 };
const maxSocketTimeoutMs = 15_000;
/** An extraction ends after so many deadlines, however many callers join it. */
const maxCallersInTurn = 3;
/** A page can link to any number of others. Extractors of real sites open a few dozen connections. */
const maxPageConnections = 200;
/** Thumbnail hosts to resolve per page. */
const maxThumbnailHosts = 5;

/** Finds what can be downloaded from a page. */
export class ExtractionService {
  readonly #options: ExtractionServiceOptions;
  readonly #cache = new ExtractionCache(cacheLimits);
  readonly #flights = new SingleFlight<Extraction>();
  readonly #extractionCounter;
  readonly #warnings: ExtractionWarnings;
  readonly #exits: Exits;
  /** The running extractions' connections. */
  readonly #sessions = new WeakMap<Claims, EgressSession>();
  #extractions = 0;

  constructor(options: ExtractionServiceOptions) {
    this.#options = options;
    this.#extractionCounter = options.metrics.counter({
      name: 'media_extractions_total',
      help: 'Requested extractions by source of the result: the site, a running extraction or the cache.',
      labelNames: ['from'],
    });
    this.#warnings = new ExtractionWarnings(options);
    this.#exits = new Exits(options.guard.exits);
  }

  /** How many extractions the engine has run. */
  get extractions(): number {
    return this.#extractions;
  }

  /** Why extraction is degraded; undefined if it isn't. */
  get degradation(): string | undefined {
    return this.#warnings.degradation(Date.now());
  }

  /**
   * Extracts a page. Concurrent requests share one extraction, which is cached while its media URLs are valid.
   * @throws DomainError with the cause's code, `no_media` for a language that the page doesn't have; the signal's reason
   */
  async extract(url: PageUrl, options: ExtractOptions): Promise<Extraction> {
    const extraction = await this.#extractOriginal(url, options);
    if (options.language === undefined) return extraction;
    const spoken = spokenIn(extraction, options.language);
    return withProbedDetails(spoken, this.#options.probeSource, options);
  }

  async #extractOriginal(
    url: PageUrl,
    { signal, fresh = false, client = '', item, exit }: ExtractOptions,
  ): Promise<Extraction> {
    const cacheKey = keyOf(url, item);
    const cached = fresh ? undefined : this.#cache.get(cacheKey);
    if (cached !== undefined) {
      this.#extractionCounter.inc({ from: 'cache' });
      return cached;
    }
    const key = keyOf(url, item, exit);
    const { timeoutMs } = this.#options;
    const late = () => this.#lateReason(key, url);
    this.#extractionCounter.inc({ from: this.#flights.claimsOf(key) === undefined ? 'site' : 'shared' });
    // Each caller has its own deadline, whenever the extraction began.
    return withDeadline({ timeoutMs, signal, late }, async (limited) => {
      const work = async (shared: AbortSignal, claims: Claims) => {
        const extraction = await this.#extractNow(url, { signal: shared, claims, item, exit });
        this.#cache.set(cacheKey, extraction);
        return extraction;
      };
      return this.#flights.run(key, limited, work, client);
    });
  }

  #lateReason(key: string, url: string): DomainError {
    const claims = this.#flights.claimsOf(key);
    if (claims?.hasStarted !== true) {
      const detail = 'All download engines are busy. Try again in 10 s.';
      return new DomainError('overloaded', detail, { retryAfterSeconds: 10 });
    }
    return this.#sessions.get(claims)?.failures.at(-1) ?? codedError('upstream_timeout', url);
  }

  /**
   * Gets a fresh URL for a format whose URL was rejected. Streams rejected at the same time
   * share one extraction.
   * @throws DomainError as `extract`, and when the site no longer offers the format
   */
  async renew(url: PageUrl, { origin }: MediaSource, options: RenewOptions): Promise<MediaSource> {
    if (origin === undefined) throw new Error('only a source of an extraction can be renewed');
    const cached = this.#cache.get(keyOf(url, options.item));
    const isNewer = cached !== undefined && cached.extractedAt > origin.extractedAt;
    const isReachable = cached?.formats.every(({ source }) => source.origin?.exit === origin.exit) === true;
    const extraction =
      isNewer && isReachable
        ? cached
        : await this.extract(url, { ...options, fresh: true, exit: origin.exit });
    const format = extraction.formats.find(({ id }) => id === origin.formatId);
    if (format === undefined)
      throw codedError('upstream_error', url, new Error('the site no longer offers the format'));
    return format.source;
  }

  /** The callers' deadlines cover everything. */
  async #extractNow(url: string, request: ExtractionRequest): Promise<Extraction> {
    const { signal, claims } = request;
    await this.#options.guard.checkUrl(new URL(url), signal, clientOf(claims));
    const { host } = new URL(url);
    const { result: raw, exit } = await this.#exits.through(request.exit, host, async (through) =>
      this.#runEngine(url, { ...request, exit: through }),
    );
    this.#warnings.note(raw.warnings, host, Date.now());
    const found = toExtraction(raw, { requestUrl: url, now: Date.now(), exit });
    const caller = { signal, client: clientOf(claims) };
    const extraction = await withProbedDetails(found, this.#options.probeSource, caller);
    assertWhole(extraction, raw, host);
    return this.#withPublicThumbnails(extraction, { signal, client: clientOf(claims) });
  }

  /** A page can use any URL as its thumbnail, and clients that display the result of `/api/info` load it. */
  async #withPublicThumbnails(extraction: Extraction, caller: Caller): Promise<Extraction> {
    const thumbnails = [extraction, ...extraction.items].flatMap(({ thumbnail }) => thumbnail ?? []);
    const origins = [...new Set(thumbnails.map((url) => new URL(url).origin))].slice(0, maxThumbnailHosts);
    const isPublic = await Promise.all(origins.map(async (origin) => this.#isPublic(origin, caller)));
    const publicOrigins = new Set(origins.filter((_, index) => isPublic[index]));
    const publicOnly = (url: string | null) =>
      url !== null && publicOrigins.has(new URL(url).origin) ? url : null;
    return {
      ...extraction,
      thumbnail: publicOnly(extraction.thumbnail),
      items: extraction.items.map((item) => ({ ...item, thumbnail: publicOnly(item.thumbnail) })),
    };
  }

  async #isPublic(origin: string, { signal, client = '' }: Caller): Promise<boolean> {
    try {
      await this.#options.guard.checkUrl(new URL(origin), signal, client);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError) return false;
      throw error;
    }
  }

  async #runEngine(
    url: string,
    { signal, claims, item, exit }: ExtractionRequest & { readonly exit: number },
  ): Promise<RawExtraction> {
    const { engine, egress, cookiesFile, maxPageBytes, extractorArguments, timeoutMs } = this.#options;
    const session = egress.openSession({
      exit,
      maxBytes: maxPageBytes,
      maxConnections: maxPageConnections,
      client: () => clientOf(claims),
      onExceeded: (what) => tooMuch(what, maxPageBytes),
    });
    this.#sessions.set(claims, session);
    // Close a cancelled job's connections immediately, not when yt-dlp notices.
    const closeSession = (): void => session.close();
    signal.addEventListener('abort', closeSession, { once: true });
    this.#extractions += 1;
    try {
      const result = await engine.run(
        {
          kind: 'extract',
          url,
          proxyUrl: session.proxyUrl,
          socketTimeoutSeconds: Math.min(maxSocketTimeoutMs, timeoutMs * 0.4) / 1000,
          targets: formatSelectors,
          extractorArguments,
          ...(item !== undefined && { item }),
          ...(cookiesFile !== undefined && { cookies: await readFile(cookiesFile, 'utf8') }),
        },
        // Callers who join extend it, but not without end.
        { signal, claims, timeoutMs: timeoutMs * maxCallersInTurn },
      );
      if (result.kind !== 'extraction') throw new Error(`the download engine returned ${result.kind}`);
      return result;
    } catch (error) {
      throw this.#engineError(error, session, url);
    } finally {
      signal.removeEventListener('abort', closeSession);
      session.close();
    }
  }

  #engineError(error: unknown, session: EgressSession, url: string): unknown {
    if (session.exceeded !== undefined) return session.exceeded;
    if (error instanceof EngineTakenBackError) {
      const detail = `${new URL(url).host} was too slow while other clients were waiting. Try again in a moment.`;
      return new DomainError('upstream_timeout', detail, { cause: error });
    }
    if (error instanceof EngineJobError) return extractionError(error.payload, session.failures, url);
    if (error instanceof EngineMemoryError)
      return pageTooLarge('The page is larger than this service can read.', { cause: error });
    // The engine spends most of its time waiting for the site.
    if (error instanceof DomainError && error.code === 'timeout') {
      return session.failures.at(-1) ?? codedError('upstream_timeout', url, error);
    }
    return error;
  }
}

function tooMuch(what: 'bytes' | 'connections', maxPageBytes: number): DomainError {
  return what === 'bytes'
    ? pageTooLarge(`The site sent more than ${maxPageBytes} bytes for this page.`, {
        setting: 'PAGE_MAX_BYTES',
      })
    : pageTooLarge(`The page links to more than ${maxPageConnections} others.`);
}

/** Distinct for every combination. */
function keyOf(url: string, item: number | undefined, exit?: number): string {
  return JSON.stringify([url, item, exit]);
}

/** The newest caller, whose share is most likely free. */
function clientOf(claims: Claims): string {
  return [...claims].at(-1)?.client ?? '';
}

/** A preview must not pass for the whole track. */
function assertWhole({ selections }: Extraction, raw: RawExtraction, host: string): void {
  const chosen = Object.values(selections).flat();
  const isWarned = raw.warnings.some((warning) => warningKind(warning) === 'preview_only');
  if (isWarned || chosen.some(({ id }) => /(?:^|[-_])preview$/i.test(id))) {
    throw new DomainError(
      'login_required',
      `${host} plays only a preview to visitors who are not logged in or have no subscription. Use a track that is free to play. If you run this server: COOKIES_FILE can provide a session of the site.`,
    );
  }
}
