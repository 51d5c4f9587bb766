import type { ServerResponse } from 'node:http';
import { DomainError, type Logger, type Metrics } from '@media-services/http-common';
import type { TextTrack } from '../formats/mp4/text-track.js';
import type { ExtractionService } from '../extract/service.js';
import type { Extraction } from '../extract/types.js';
import { type Page, UnexpectedMediaError } from '../look/learnt.js';
import type { LookOptions } from '../look/look.js';
import { openOneShot, type OpenedFile } from '../look/one-shot.js';
import { tooLarge } from '../plan/rejections.js';
import { type MediaSource, type RenewSource, untilAvailable, waitMs } from '../upstream/media-source.js';
import { ChangedFileError } from '../upstream/transfer-fault.js';
import type { Upstream } from '../upstream/upstream.js';
import type { StreamLimits } from '../capacity.js';
import { isAnswered } from './conditions.js';
import { convert } from './convert.js';
import { jpegOfWebp } from '../ffmpeg/jpeg.js';
import { StreamJob, type StreamContext, type StreamRequest } from './job.js';
import { outputFor } from './outputs.js';
import { type Part, SentVersions, versionOf } from './ranges.js';
import { readRemuxed } from './remuxed-file.js';
import { sendFile } from './send-file.js';
import { readSiteFile } from './site-file.js';
import { readSubtitles } from './subtitles.js';
import { streamHeaders, type KnownFile } from './response.js';
import { ResumeBudget } from './resume-budget.js';
import { type StreamEnd, streamMetrics, StreamSlots } from './slots.js';
import { type Way, Ways, type WaysOptions, type Wish } from './ways.js';
import { openWindow } from './window-input.js';

export interface StreamingOptions extends WaysOptions {
  extraction: Pick<ExtractionService, 'extract' | 'renew'>;
  upstream: Upstream;
  limits: StreamLimits;
  metrics: Metrics;
  logger: Logger;
}

type SubtitleFile = TextTrack & Pick<Extraction, 'id' | 'title'>;

/** The fields of a request that identify the video. */
type PageRequest = Pick<StreamRequest, 'url' | 'client' | 'item'>;

/** Turns a page URL into a stream that is sent while it is generated. */
export class StreamingService implements AsyncDisposable {
  readonly #options: StreamingOptions;
  readonly #slots: StreamSlots;
  readonly #metrics: ReturnType<typeof streamMetrics>;
  readonly #ways: Ways;
  readonly #sentVersions = new SentVersions();
  readonly #resumes: ResumeBudget;
  readonly #active = new Map<StreamJob, Promise<void>>();

  constructor(options: StreamingOptions) {
    this.#options = options;
    this.#slots = new StreamSlots(options.limits);
    this.#metrics = streamMetrics(options.metrics, this.#slots);
    this.#resumes = new ResumeBudget(options.planSettings.maxDurationSeconds);
    this.#ways = new Ways(options);
  }

  /**
   * Sends the status and headers of the stream, without generating it.
   *
   * @throws DomainError from extraction or planning; `precondition_failed`
   */
  async head(request: StreamRequest, response: ServerResponse, context: StreamContext): Promise<void> {
    const described = await this.#describe(request, context);
    const { plan, file } = described;
    if (isAnswered(request, response, file?.etag ?? null)) return;
    // The client may now request ranges of this version, each from another connection.
    if (file?.hasRanges === true) this.#sentVersions.remember(request, versionOf(file));
    const headers = streamHeaders(plan, { ...described, range: null, saveAs: request.saveAs });
    response.writeHead(200, headers).end();
  }

  /** Starts no ffmpeg, so a cover that has to be converted leaves the size open. */
  async #describe(request: StreamRequest, context: StreamContext) {
    const wish = await this.#wishOf(request, context);
    const { signal, logger } = context;
    const options = { signal, renew: this.#renewal(request), client: request.client, depth: 'all' } as const;
    const way = await this.#ways.decide(wish, options);
    const { plan, file } = way;
    if (file !== undefined) return { plan, format: file.format, file };
    const unconverted: Buffer[] = [];
    const jpegOf = (webp: Buffer): Promise<null> => {
      unconverted.push(webp);
      return Promise.resolve(null);
    };
    const output = await outputFor(plan, { ...this.#options, ...options, jpegOf, logger });
    const headerBytes = (await output.headerBytes?.()) ?? 0;
    return { plan, format: output.format, file: unconverted.length > 0 ? null : output.file, headerBytes };
  }

  /** What `/api/info` says about a stream. @throws as `Ways.prospect` */
  async prospect(wished: Omit<Wish, keyof Page>, page: PageRequest, signal: AbortSignal): Promise<Way> {
    return this.#ways.prospect(
      { ...wished, ...page },
      { signal, renew: this.#renewal(page), client: page.client },
    );
  }

  /**
   * Extracts, generates and sends the stream. When it returns, the response is finished and
   * verified, and nothing is left running.
   *
   * @throws DomainError, or the reason of the context's signal. If headers have been sent by then, the connection must be reset.
   */
  async stream(request: StreamRequest, response: ServerResponse, context: StreamContext): Promise<void> {
    // Check first, so that a full service doesn't waste an extraction on a request it will reject.
    this.#slots.assertRoom(request.client);
    const wish = await this.#wishOf(request, context);
    // Fail before waiting for a slot.
    const { inputs } = this.#ways.plan(wish);
    const { limits, relay } = this.#options;
    using job = new StreamJob({
      request,
      response,
      context,
      limits,
      relay,
      renew: this.#renewal(request),
      isCrowded: () => this.#slots.waiting > 0,
      onBytes: (bytes) => this.#metrics.addBytes(request.target, bytes),
    });
    const running = this.#runInSlot(job, wish, inputs);
    this.#active.set(job, running);
    try {
      await running;
      this.#metrics.countEnd(request.target, 'ok');
    } catch (error) {
      this.#metrics.countEnd(request.target, endOf(job));
      throw error;
    } finally {
      this.#active.delete(job);
    }
  }

  /** The request, with what its page says and the subtitles to add. */
  async #wishOf(request: StreamRequest, { signal, timings }: StreamContext): Promise<Wish> {
    const { url, client, item, language, subtitles = [] } = request;
    const { extraction: extractor } = this.#options;
    const extraction = await timings.measure('extract', () =>
      extractor.extract(url, { signal, client, item, language }),
    );
    if (subtitles.length === 0) return { ...request, extraction };
    const texts = await timings.measure('subtitles', () =>
      readSubtitles(extraction, request, { ...this.#options, client, signal }),
    );
    return { ...request, extraction, texts };
  }

  /** Subtitles without the video. @throws as `stream` */
  async subtitles(request: StreamRequest, context: StreamContext): Promise<SubtitleFile> {
    const { extraction, texts: [text] = [] } = await this.#wishOf(request, context);
    if (text === undefined) throw new Error('a request for subtitles has a language');
    return { ...text, id: extraction.id, title: extraction.title };
  }

  /** A renewal counts as an extraction by the client. */
  #renewal({ url, client, item }: PageRequest): RenewSource {
    return async (source, signal) => this.#options.extraction.renew(url, source, { signal, client, item });
  }

  async #runInSlot(job: StreamJob, wish: Wish, inputs: readonly MediaSource[]): Promise<void> {
    const { timings } = job.context;
    if (waitMs(inputs, Date.now()) > 0) {
      await timings.measure('availability', () =>
        untilAvailable(inputs, { signal: job.signal, maxMs: job.limits.firstByteTimeoutMs }),
      );
    }
    job.isQueued = true;
    const release = await timings.measure('queue', () => this.#slots.acquire(job.request.client, job.signal));
    job.isQueued = false;
    try {
      await this.#deliver(job, wish, inputs);
    } finally {
      release();
    }
  }

  /**
   * Drops what an earlier request has seen of the files if that doesn't fit, and looks once more. A file that
   * even then differs from what was just seen is a one-shot source.
   */
  async #deliver(job: StreamJob, wish: Wish, inputs: readonly MediaSource[]): Promise<void> {
    const { heads } = this.#options;
    const areFactsOld = heads.remembers(inputs);
    let way: Way | undefined;
    try {
      way = await this.#ways.decide(wish, headOptions(job));
      await this.#send(job, way, wish);
    } catch (error) {
      if (way !== undefined) this.#ways.lessons.learn(wish, way.plan.formatIds, error);
      const isOther = error instanceof ChangedFileError || job.signal.reason instanceof ChangedFileError;
      const isUnplanned = way?.kind === 'convert' && way.window === undefined;
      const isOneShot = isOther && way?.kind !== 'one shot' && (isUnplanned || !areFactsOld);
      if (isOneShot) heads.markOneShot(inputs);
      const isSettled = isUnplanned || way?.kind === 'one shot';
      const isRepeated =
        !job.response.headersSent && (isOneShot ? inputs.length === 1 : areFactsOld && !isSettled);
      if (isOther && isRepeated) job.restart();
      job.signal.throwIfAborted();
      if (!isSettled) heads.forget(inputs);
      if (!isRepeated || isAboutRequest(error)) throw error;
      await this.#deliver(job, wish, inputs);
    }
  }

  /** @param opened the only response, if each has other bytes */
  async #send(job: StreamJob, way: Way, wish: Wish, opened?: OpenedFile): Promise<void> {
    if (way.kind === 'pass on' || way.kind === 'remux') await this.#sendFile(job, way, opened);
    else if (way.kind === 'convert') await this.#convert(job, way, opened);
    else {
      const file = await openOneShot(way.source, { ...this.#options, ...headOptions(job) });
      try {
        await this.#send(job, this.#ways.findOneShot(wish, file.head), wish, file);
      } finally {
        file.discard();
      }
    }
  }

  async #sendFile(
    job: StreamJob,
    way: Extract<Way, { kind: 'pass on' | 'remux' }>,
    opened?: OpenedFile,
  ): Promise<void> {
    const { request, response, context, limits } = job;
    const { plan, file } = way;
    if (file.totalBytes > limits.maxOutputBytes) throw tooLarge(plan.target, file.totalBytes, limits);
    if (isAnswered(request, response, file.etag)) return;
    const range = this.#rangeOf(job, file);
    context.note({ delivery: way.kind === 'remux' ? 'remuxed' : 'original' });
    const options = { ...headOptions(job), upstream: this.#options.upstream };
    const pieces =
      way.kind === 'remux'
        ? readRemuxed(way.file, range, options)
        : readSiteFile(way.file, range, { ...options, opened });
    await sendFile(job, { plan, file, range }, pieces);
  }

  /** The part to send; null for all. @throws DomainError, after setting `Content-Range` to the size */
  #rangeOf({ request, response }: StreamJob, file: KnownFile | null): Part | null {
    if (file?.hasRanges !== true) return null;
    const selection = this.#sentVersions.select(request, file);
    if (selection !== 'unsatisfiable') return selection;
    response.setHeader('Content-Range', `bytes */${file.totalBytes}`);
    throw new DomainError(
      'range_not_satisfiable',
      `The file has only ${file.totalBytes} bytes. Request a range that starts before its end.`,
    );
  }

  async #convert(
    job: StreamJob,
    { plan, window }: Extract<Way, { kind: 'convert' }>,
    opened?: OpenedFile,
  ): Promise<void> {
    const { request, response, context } = job;
    context.note({ delivery: 'made' });
    const options = { ...this.#options, ...headOptions(job) };
    const jpegOf = jpegOfWebp.bind(null, options.tools);
    const output = await outputFor(plan, { ...options, jpegOf, logger: context.logger });
    const { file } = output;
    if (isAnswered(request, response, file?.etag ?? null)) return;
    const wanted = this.#rangeOf(job, file);
    // A generated stream can skip its beginning, but not its end, where it is verified.
    const range = file !== null && wanted?.end === file.totalBytes - 1 ? wanted : null;
    if (file !== null && range !== null) this.#resumes.spend(request.client, file.secondsBefore(range.start));
    const session = job.openSession(plan.inputs[0]);
    const { upstream } = this.#options;
    const { clip } = plan.expected;
    await using part = window && (await openWindow(job, window, { session, upstream, clip }));
    const inputs = opened ? [session.addOpened(opened)] : part && [part.input];
    try {
      await convert(job, { ...options, plan, output, range, session, inputs });
    } catch (error) {
      const isAboutFile = error instanceof DomainError && error.code === 'upstream_error';
      const isExplained = error instanceof UnexpectedMediaError || session.failure !== undefined;
      if (file === null || !isAboutFile || isExplained) throw error;
      const what = "The site's audio is incomplete, or its file states a wrong length.";
      throw new UnexpectedMediaError({ kind: 'wrong_length' }, what, { cause: error });
    }
  }

  /** Ends all streams and waits until their processes have exited. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new DomainError('engine_unavailable', 'The service is shutting down.', {
      retryAfterSeconds: 5,
    });
    for (const job of this.#active.keys()) job.abort(reason);
    await Promise.allSettled(this.#active.values());
  }
}

function headOptions({ signal, renew, request }: StreamJob): LookOptions {
  return { signal, renew, client: request.client, depth: 'all' };
}

function endOf({ response, context }: StreamJob): StreamEnd {
  if (context.signal.aborted) return 'aborted';
  return response.headersSent ? 'truncated' : 'failed';
}

/** Whether an error concerns the request rather than the site's file. */
function isAboutRequest(error: unknown): boolean {
  return error instanceof DomainError && ['range_not_satisfiable', 'too_long'].includes(error.code);
}
