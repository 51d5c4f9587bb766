import type { ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { DomainError, type Logger, type Metrics } from '@media-services/http-common';
import type { Cover } from '../formats/cover.js';
import type { ExtractionService } from '../extract/service.js';
import { type Facts, factsFrom, Looker, type LookOptions } from '../look/look.js';
import { openOneShot, type OpenedFile } from '../look/one-shot.js';
import type { HeadOptions, SourceHeads } from '../look/source-heads.js';
import type { Extraction } from '../extract/types.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { notCopyable, planTarget, tooLarge, type Plan, type PlanSettings } from '../plan/plan.js';
import { withFacts } from '../plan/with-facts.js';
import { withRemedy, type Remedy } from '../plan/remedy.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { MediaRelay } from '../relay/media-relay.js';
import { type MediaSource, type RenewSource, untilAvailable, waitMs } from '../upstream/media-source.js';
import { ChangedFileError } from '../upstream/transfer-fault.js';
import type { Upstream } from '../upstream/upstream.js';
import { CopiedAudioOutput } from './audio-output.js';
import { fetchCover } from './fetch-cover.js';
import { StreamJob, type StreamContext, type StreamRequest } from './job.js';
import type { StreamLimits } from '../capacity.js';
import { makeStream, WrongPlanError, type StreamToMake } from './make-stream.js';
import { type StreamEnd, streamMetrics, type StreamMetrics, StreamSlots } from './slots.js';
import { ExactMp3Output, Mp3Output, statedAudio } from './mp3-output.js';
import { Mp4Output } from './mp4-output.js';
import type { StreamOutput } from './output.js';
import { RemuxedFiles, type RemuxedFile } from './remuxed-files.js';
import { hasCurrentVersion, sendNotModified } from './conditions.js';
import { selectRange, SentVersions, type Selection } from './ranges.js';
import { formats, statusOf, streamHeaders, type KnownFile } from './response.js';
import { ResumeBudget } from './resume-budget.js';
import { sendFile } from './send-file.js';
import { sendRemuxed, WrongIndexError } from './send-remuxed.js';
import { siteFileOf, type SiteFile } from './site-file.js';

export interface StreamingOptions {
  extraction: Pick<ExtractionService, 'extract' | 'renew'>;
  relay: Pick<MediaRelay, 'open'>;
  upstream: Upstream;
  heads: SourceHeads;
  parsers: Pick<ParserPool, 'forClient'>;
  tools: MediaTools;
  planSettings: PlanSettings;
  limits: StreamLimits;
  metrics: Metrics;
  logger: Logger;
}

/** The fields of a request that identify the video. */
type PageRequest = Pick<StreamRequest, 'url' | 'client' | 'item'>;

/** What a plan is made from. */
type Wish = Pick<StreamRequest, 'target' | 'clip'> & { readonly extraction: Extraction };

/** A final plan, and how it is delivered. */
type Way =
  | { readonly kind: 'pass on'; readonly plan: Plan; readonly file: SiteFile & KnownFile }
  | { readonly kind: 'remux'; readonly plan: Plan; readonly file: RemuxedFile }
  | { readonly kind: 'convert'; readonly plan: Plan }
  /** From a single response, which is still to be looked at. */
  | { readonly kind: 'one shot'; readonly plan: Plan; readonly source: MediaSource };

/** What `/api/info` says about a stream whose size is known. */
export interface StatedFile extends Pick<SiteFile, 'format' | 'totalBytes'> {
  /** Whether it is the site's own file, unchanged. */
  readonly isSiteFile: boolean;
}

/** What `/api/info` says about a stream. */
export interface Prospect {
  readonly plan: Plan;
  /** Null if its size is only known once it is made. */
  readonly file: StatedFile | null;
}

const whole: Selection = { kind: 'whole' };

/** How long `/api/info` waits for the header of a file. */
const maxInspectMs = 5_000;

function versionOf({ etag, totalBytes }: KnownFile): string {
  return etag ?? String(totalBytes);
}

/** Sends a 304 if the client has this version. @throws DomainError `precondition_failed` */
function isAnswered({ request, response }: StreamJob, file: KnownFile | null): boolean {
  const etag = file?.etag ?? null;
  if (!hasCurrentVersion(request, etag)) return false;
  sendNotModified(response, String(etag));
  return true;
}

/** The response to HEAD. */
interface StreamHead {
  readonly status: 200 | 304;
  readonly headers: Record<string, string>;
}

/** Turns a page URL into a stream that is sent while it is generated. */
export class StreamingService implements AsyncDisposable {
  readonly #options: StreamingOptions;
  readonly #slots: StreamSlots;
  readonly #metrics: StreamMetrics;
  readonly #looker: Looker;
  readonly #remuxedFiles: RemuxedFiles;
  readonly #sentVersions = new SentVersions();
  readonly #resumes: ResumeBudget;
  /** Files that state a wrong audio length. Their MP3 is sent without a stated length next time. */
  readonly #filesWithWrongLength = new WeakSet<MediaSource>();
  /** What streams of a source have shown about the plan that it needs. */
  readonly #remedies = new WeakMap<MediaSource, readonly Remedy[]>();
  readonly #active = new Map<StreamJob, Promise<void>>();

  constructor(options: StreamingOptions) {
    this.#options = options;
    const { maxConcurrent, maxQueued } = options.limits;
    this.#slots = new StreamSlots({ maxRunning: maxConcurrent, maxWaiting: maxQueued });
    this.#metrics = streamMetrics(options.metrics, this.#slots);
    this.#resumes = new ResumeBudget(options.planSettings.maxDurationSeconds);
    this.#looker = new Looker(options);
    this.#remuxedFiles = new RemuxedFiles(options.upstream, options.heads, options.parsers);
  }

  /**
   * The status and headers of the stream, without generating it.
   *
   * @throws DomainError from extraction or planning; `precondition_failed`
   */
  async headers(request: StreamRequest, context: StreamContext): Promise<StreamHead> {
    const described = await this.#describe(request, context);
    const etag = described.file?.etag ?? null;
    if (hasCurrentVersion(request, etag)) return { status: 304, headers: { ETag: String(etag) } };
    // The client may now request ranges of this version, each from another connection.
    if (described.file?.hasRanges === true) this.#sentVersions.remember(request, versionOf(described.file));
    const headers = streamHeaders(described.plan, { ...described, selection: whole, saveAs: request.saveAs });
    return { status: 200, headers };
  }

  async #describe(request: StreamRequest, context: StreamContext) {
    const extraction = await this.#extract(request, context);
    const options = {
      ...{ signal: context.signal, renew: this.#renewal(request), client: request.client },
      depth: 'all',
    } as const;
    const way = await this.#decide({ ...request, extraction }, options);
    const { plan } = way;
    if (way.kind === 'pass on') return { plan, format: way.file.format, file: way.file, headerBytes: 0 };
    if (way.kind === 'remux') return { plan, format: formats.mp4, file: way.file, headerBytes: 0 };
    const output = await this.#outputFor(
      plan,
      fetchCover(plan, { ...this.#options, ...options, logger: context.logger }),
      options,
    );
    const headerBytes = await output.headerBytes();
    return { plan, format: output.format, file: output.file, headerBytes };
  }

  /**
   * The plan of a stream, and the file that it will be if its size is known before it is made. Follows the
   * page's word if a file's header can't be read; the stream request then reports why.
   *
   * @throws DomainError if the page has nothing for the target; the signal's reason
   */
  async prospect(wish: Wish, page: PageRequest, signal: AbortSignal): Promise<Prospect> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(maxInspectMs)]);
    const options = {
      ...{ signal: limited, renew: this.#renewal(page), client: page.client },
      depth: 'one-file',
    } as const;
    const ifReadable = async <Result>(reading: Promise<Result>, otherwise: Result): Promise<Result> =>
      reading.catch((error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof DomainError || limited.aborted) return otherwise;
        throw error;
      });
    const facts = await ifReadable<Facts>(this.#looker.look(this.#plan(wish), options), new Map());
    const plan = this.#plan(wish, facts);
    const way = await ifReadable<Way>(this.#wayOf(plan, facts, options), { kind: 'convert', plan });
    if (way.kind === 'convert' || way.kind === 'one shot') return { plan, file: null };
    const isSiteFile = way.kind === 'pass on';
    const format = isSiteFile ? way.file.format : formats.mp4;
    return { plan, file: { format, totalBytes: way.file.totalBytes, isSiteFile } };
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
    const extraction = await this.#extract(request, context);
    const wish = { ...request, extraction };
    // Fail before waiting for a slot.
    const { inputs } = this.#plan(wish);
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

  async #extract(request: StreamRequest, context: StreamContext): Promise<Extraction> {
    const { url, client, item, language } = request;
    return context.timings.measure('extract', () =>
      this.#options.extraction.extract(url, { signal: context.signal, client, item, language }),
    );
  }

  /** @param facts absent to take the page's word */
  #plan({ extraction, target, clip }: Wish, facts: Facts = new Map()): Plan {
    return planTarget(withFacts(extraction, facts), target, this.#options.planSettings, clip);
  }

  /** Looks at the sources of a stream, then plans it. */
  async #decide(wish: Wish, options: LookOptions): Promise<Way> {
    const facts = await this.#looker.look(this.#plan(wish), options);
    return this.#wayOf(this.#plan(wish, facts), facts, options);
  }

  async #wayOf(plan: Plan, facts: Facts, options: LookOptions): Promise<Way> {
    const [source] = plan.inputs;
    if (source !== undefined && this.#looker.isOneShot(plan.inputs))
      return { kind: 'one shot', plan, source };
    const siteFile = siteFileOf(plan, facts, { ...this.#options, ...options });
    if (siteFile !== undefined) return { kind: 'pass on', plan, file: { ...siteFile, hasRanges: true } };
    const isLookedAt = plan.inputs.every((source) => facts.has(source));
    const remuxed = isLookedAt ? await this.#remuxedFiles.find(plan, options) : undefined;
    return remuxed === undefined ? { kind: 'convert', plan } : { kind: 'remux', plan, file: remuxed };
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
    const release = await timings.measure('queue', () =>
      job.withLateReason(queueTimeout, () => this.#slots.acquire(job.request.client, job.signal)),
    );
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
    const areFactsOld = this.#looker.remembers(inputs);
    let way: Way | undefined;
    try {
      way = await this.#decide(wish, headOptions(job));
      await this.#send(job, way, wish);
    } catch (error) {
      const isOther = error instanceof ChangedFileError || job.signal.reason instanceof ChangedFileError;
      const isOneShot = isOther && way?.kind !== 'one shot' && (way?.kind === 'convert' || !areFactsOld);
      if (isOneShot) this.#looker.markOneShot(inputs);
      job.signal.throwIfAborted();
      if (way?.kind === 'convert' || way?.kind === 'one shot') throw error;
      this.#looker.forget(inputs);
      this.#remuxedFiles.forget(inputs);
      if (job.response.headersSent || isAboutRequest(error) || !(areFactsOld || isOneShot)) throw error;
      await this.#deliver(job, wish, inputs);
    }
  }

  async #send(job: StreamJob, way: Way, wish: Wish): Promise<void> {
    if (way.kind === 'pass on') await this.#sendFile(job, way);
    else if (way.kind === 'remux') await this.#sendRemuxedFile(job, way);
    else if (way.kind === 'convert') await this.#make(job, way.plan);
    else await this.#sendOneShot(job, way.source, wish);
  }

  async #sendOneShot(job: StreamJob, source: MediaSource, wish: Wish): Promise<void> {
    const opened = await openOneShot(source, { ...this.#options, ...headOptions(job) });
    try {
      const facts = new Map([[source, factsFrom(opened.head)]]);
      const plan = this.#plan(wish, facts);
      const file = siteFileOf(plan, facts, { ...this.#options, ...headOptions(job) });
      if (file === undefined) await this.#make(job, plan, opened);
      else {
        const known = { ...file, etag: null, hasRanges: false };
        await this.#sendFile(job, { kind: 'pass on', plan, file: known }, opened);
      }
    } finally {
      opened.discard();
    }
  }

  /** @param opened the only response, if each has other bytes */
  async #sendFile(
    job: StreamJob,
    { plan, file }: Extract<Way, { kind: 'pass on' }>,
    opened?: OpenedFile,
  ): Promise<void> {
    if (file.totalBytes > job.limits.maxOutputBytes)
      throw tooLarge(plan.target, `has ${file.totalBytes} bytes`, job.limits);
    if (isAnswered(job, file)) return;
    const selection = file.hasRanges ? this.#select(job.request, file) : whole;
    const status = statusOf(selection, file, job.response);
    job.context.note({ delivery: 'original' });
    const exit = plan.inputs[0]?.origin?.exit;
    const options = { signal: job.signal, exit, client: job.request.client };
    const reader =
      opened === undefined
        ? this.#options.upstream.reader(file.object, options)
        : { open: () => Promise.resolve(opened) };
    await sendFile(job, { plan, file, reader, selection, status });
  }

  async #sendRemuxedFile(job: StreamJob, { plan, file }: Extract<Way, { kind: 'remux' }>): Promise<void> {
    if (file.totalBytes > job.limits.maxOutputBytes)
      throw tooLarge(plan.target, `has ${file.totalBytes} bytes`, job.limits);
    if (isAnswered(job, file)) return;
    const selection = this.#select(job.request, file);
    const status = statusOf(selection, file, job.response);
    job.context.note({ delivery: 'remuxed' });
    try {
      await sendRemuxed(job, { plan, file, upstream: this.#options.upstream, selection, status });
    } catch (error) {
      if (error instanceof WrongIndexError) this.#remuxedFiles.avoid(plan);
      throw error;
    }
  }

  #select(request: StreamRequest, file: KnownFile): Selection {
    const selection = selectRange(request, file);
    const isRest = selection.kind === 'part' && selection.start > 0;
    // Another replica may have sent the beginning, from another version of the file.
    if (isRest && request.ifRange === undefined && !this.#sentVersions.holds(request, versionOf(file)))
      return whole;
    this.#sentVersions.remember(request, versionOf(file));
    return selection;
  }

  /** A generated stream can skip its beginning, but not its end, where it is verified. */
  #selectToEnd(request: StreamRequest, file: KnownFile | null): Selection {
    if (file?.hasRanges !== true) return whole;
    const selection = this.#select(request, file);
    return selection.kind === 'part' && selection.end !== file.totalBytes - 1 ? whole : selection;
  }

  async #make(job: StreamJob, firstPlan: Plan, opened?: OpenedFile): Promise<void> {
    // A clip may lie before what the whole stream has shown, and shows itself what it needs.
    const remedies = this.#remediesOf(firstPlan).filter(
      ({ kind }) => firstPlan.expected.clip === null || kind === 'encode',
    );
    const plan = remedies.reduce(withRemedy, firstPlan);
    const { relay, tools } = this.#options;
    const { request, response, context } = job;
    context.note({ delivery: 'made' });
    const cover = fetchCover(plan, { ...this.#options, ...headOptions(job), logger: context.logger });
    const output = await this.#outputFor(plan, cover, headOptions(job));
    const { file } = output;
    if (isAnswered(job, file)) return;
    const selection = this.#selectToEnd(request, file);
    statusOf(selection, file, response);
    if (file !== null && selection.kind === 'part')
      this.#resumes.spend(request.client, file.secondsBefore(selection.start));
    const [source] = plan.inputs;
    const session = job.openSession(source);
    try {
      const inputs = opened && [session.addOpened(opened)];
      await this.#makeFrom(job, { plan, output, selection, session, relay, tools, inputs }, cover);
    } catch (error) {
      const isAboutFile = error instanceof DomainError && error.code === 'upstream_error';
      if (file !== null && source && isAboutFile && session.failure === undefined)
        this.#filesWithWrongLength.add(source);
      throw error;
    }
  }

  /** Generates a stream, with a different plan if its start turns out to need one. */
  async #makeFrom(job: StreamJob, stream: StreamToMake, cover: Promise<Cover | null>): Promise<void> {
    try {
      await makeStream(job, stream);
    } catch (error) {
      if (!(error instanceof WrongPlanError)) throw error;
      const { inputs, remedy } = error;
      if (remedy !== undefined) this.#remember(error.plan, remedy);
      const plan = remedy === undefined ? error.plan : withRemedy(error.plan, remedy);
      if (job.response.headersSent) throw changesInTheMiddle();
      const output = await this.#outputFor(plan, cover, headOptions(job));
      // Segments are read once in a session.
      const isReadAgain = inputs === undefined && plan.inputs.some(({ kind }) => kind !== 'file');
      const session = isReadAgain ? job.openSession(plan.inputs[0]) : stream.session;
      await this.#makeFrom(job, { ...stream, plan, output, session, inputs }, cover);
    }
  }

  #remediesOf({ inputs: [source] }: Plan): readonly Remedy[] {
    return (source && this.#remedies.get(source)) ?? [];
  }

  #remember(plan: Plan, remedy: Remedy): void {
    const [source] = plan.inputs;
    const others = this.#remediesOf(plan).filter((known) => !isDeepStrictEqual(known, remedy));
    if (source !== undefined) this.#remedies.set(source, [...others, remedy]);
  }

  async #outputFor(plan: Plan, cover: Promise<Cover | null>, options: HeadOptions): Promise<StreamOutput> {
    const { tools } = this.#options;
    switch (plan.container) {
      case 'mp4':
        return new Mp4Output(plan, tools);
      case 'm4a':
      case 'ogg':
        return new CopiedAudioOutput(plan, tools, { container: plan.container, cover });
      case 'mp3':
        return this.#mp3Output(plan, cover, options);
      case null:
        throw notCopyable(plan.audio?.codec ?? 'unknown');
    }
  }

  async #mp3Output(plan: Plan, cover: Promise<Cover | null>, options: HeadOptions): Promise<StreamOutput> {
    const { heads, tools } = this.#options;
    const [source] = plan.inputs;
    const statesWrongLength = source !== undefined && this.#filesWithWrongLength.has(source);
    const stated = statesWrongLength ? null : await statedAudio(heads, plan, options);
    return stated === null
      ? new Mp3Output(plan, tools, cover)
      : new ExactMp3Output(plan, tools, stated, await cover);
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

/** The stream was copied, and its beginning has been sent. The next one is made in another way. */
function changesInTheMiddle(): DomainError {
  const detail = "The site's media change their tracks or encoding in the middle. Try again.";
  return new DomainError('upstream_error', detail);
}

function queueTimeout(): DomainError {
  return new DomainError('overloaded', 'No slot became free in time. Try again in a moment.', {
    retryAfterSeconds: 15,
  });
}

/** Whether an error concerns the request rather than the site's file. */
function isAboutRequest(error: unknown): boolean {
  return (
    error instanceof DomainError && (error.code === 'range_not_satisfiable' || error.code === 'too_long')
  );
}
