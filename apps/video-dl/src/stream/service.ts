import type { ServerResponse } from 'node:http';
import { DomainError, type Logger, type Metrics, type RequestContext } from '@media-services/http-common';
import type { Extraction, ExtractionService, HeadOptions, SourceHeads, Target } from '../extract/index.js';
import { mp3BitrateKbps } from '../ffmpeg/bitrates.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { planTarget, tooLarge, type Plan, type PlanSettings } from '../plan/plan.js';
import type { MediaRelay, RenewSource } from '../relay/index.js';
import { untilAvailable, waitMs, type MediaSource } from '../upstream/media-source.js';
import type { Upstream } from '../upstream/upstream.js';
import { runStreamJob } from './job.js';
import { FirstByteDeadline, StreamAbort, type StreamLimits } from './limits.js';
import { streamMetrics, type StreamEnd, type StreamMetrics } from './metrics.js';
import { exactMp3, statedSound, type ExactMp3, type StatedSound } from './exact-mp3.js';
import { estimateMp3HeaderBytes, fetchCover } from './mp3-header.js';
import { Originals, probeStreams, withStreams, type Look, type OriginalFile } from './original.js';
import { firstByteTimeout } from './output.js';
import { selectRange, SentVersions, type RangeHeaders, type Selection } from './ranges.js';
import { statusOf, streamHeaders, type KnownFile } from './response.js';
import { sendOriginal } from './send-original.js';
import { ResumeBudget } from './resume-budget.js';
import { StreamSlots } from './slots.js';

export interface StreamingOptions {
  extraction: Pick<ExtractionService, 'extract' | 'renew'>;
  relay: Pick<MediaRelay, 'open'>;
  upstream: Upstream;
  heads: SourceHeads;
  tools: MediaTools;
  planSettings: PlanSettings;
  limits: StreamLimits;
  metrics: Metrics;
  logger: Logger;
}

type StreamContext = Pick<RequestContext, 'signal' | 'timings' | 'logger' | 'note'>;

/** What a client asks for. */
export interface StreamRequest extends RangeHeaders {
  /** Of the page. */
  readonly url: string;
  readonly target: Target;
  /** Identifies the client: its IP. */
  readonly client: string;
  /** Which video of a page with several, from 1. */
  readonly item?: number | undefined;
}

/** The part of a request that decides which video it is about. */
type PageRequest = Pick<StreamRequest, 'url' | 'client' | 'item'>;

interface Prepared {
  readonly extraction: Extraction;
  readonly plan: Plan;
}

interface StreamRun extends Prepared {
  readonly request: StreamRequest;
  readonly response: ServerResponse;
  readonly context: StreamContext;
  readonly abort: StreamAbort;
  readonly deadline: FirstByteDeadline;
  readonly renew: RenewSource;
}

const mp3BytesPerSecond = mp3BitrateKbps * 125;

const whole: Selection = { kind: 'whole' };

/** What `/api/info` waits for the head of a file. */
const maxLookMs = 5_000;

/** Turns the URL of a page into an MP3 or MP4 that is sent while it is made. */
export class StreamingService implements AsyncDisposable {
  readonly #options: StreamingOptions;
  readonly #slots: StreamSlots;
  readonly #metrics: StreamMetrics;
  readonly #originals: Originals;
  readonly #sentVersions = new SentVersions();
  readonly #resumes: ResumeBudget;
  /** Files whose audio was not as long as they state. Asked for again, their MP3 comes without a stated length. */
  readonly #misstating = new WeakSet<MediaSource>();
  readonly #active = new Map<StreamAbort, Promise<void>>();

  constructor(options: StreamingOptions) {
    this.#options = options;
    const { maxConcurrent, maxQueued } = options.limits;
    this.#slots = new StreamSlots({ maxRunning: maxConcurrent, maxWaiting: maxQueued });
    this.#metrics = streamMetrics(options.metrics, this.#slots);
    this.#resumes = new ResumeBudget(options.planSettings.maxDurationSeconds);
    this.#originals = new Originals(options.upstream, options.heads);
  }

  /**
   * The headers that the stream would have, without making it.
   *
   * @throws DomainError as extraction and plan do.
   */
  async headers(request: StreamRequest, context: StreamContext): Promise<Record<string, string>> {
    const { plan } = await this.#prepare(request, context);
    const options = { signal: context.signal, renew: this.#renewal(request), client: request.client };
    const look = await this.#originals.look(plan, options);
    if (look?.isOriginal === true) {
      return streamHeaders(plan, {
        file: { ...look.file, hasRanges: true },
        selection: whole,
        headerBytes: 0,
      });
    }
    const cover = await fetchCover(this.#options.upstream, plan, context);
    return streamHeaders(plan, {
      file: (await this.#exact(plan, cover, options))?.file ?? null,
      selection: whole,
      headerBytes: estimateMp3HeaderBytes(plan, cover),
    });
  }

  /** The MP3 whose length can be promised; null where it cannot, or where the stream is no MP3. */
  async #exact(plan: Plan, cover: Uint8Array | null, options: HeadOptions): Promise<ExactMp3 | null> {
    const stated = await this.#statedSound(plan, options);
    return stated && exactMp3(plan, stated, { cover, tools: this.#options.tools });
  }

  /**
   * Bytes of a stream that is the site's own file, null for one that is made here.
   * A file that cannot be looked at counts as one that is made: the stream itself tells why.
   *
   * @throws the signal's reason.
   */
  async originalBytes(plan: Plan, page: PageRequest, signal: AbortSignal): Promise<number | null> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(maxLookMs)]);
    try {
      const options = { signal: limited, renew: this.#renewal(page), client: page.client };
      const look = await this.#originals.look(plan, options);
      return look?.isOriginal === true ? look.file.totalBytes : null;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DomainError || limited.aborted) return null;
      throw error;
    }
  }

  /**
   * Extracts, makes and sends the stream; when it returns, the response is
   * finished and verified, and nothing of it is left running.
   *
   * @throws DomainError, or the reason of the context's signal. Once headers are sent the connection must be reset.
   */
  async stream(request: StreamRequest, response: ServerResponse, context: StreamContext): Promise<void> {
    // Before the extraction: a full service should not spend one on a request it will refuse.
    this.#slots.assertRoom(request.client);
    const prepared = await this.#prepare(request, context);
    const { totalTimeoutMs } = this.#options.limits;
    using abort = new StreamAbort(context.signal, totalTimeoutMs, () => totalTimeout(totalTimeoutMs));
    const { limits } = this.#options;
    using deadline = new FirstByteDeadline(abort, limits.firstByteTimeoutMs, () => firstByteTimeout(limits));
    const renew = this.#renewal(request);
    const running = this.#runInSlot({ ...prepared, request, response, context, abort, deadline, renew });
    this.#active.set(abort, running);
    try {
      await running;
      this.#metrics.countEnd(request.target, 'ok');
    } catch (error) {
      this.#metrics.countEnd(request.target, endOf(response, context));
      throw error;
    } finally {
      this.#active.delete(abort);
      // What has no other end, such as a thumbnail still on its way.
      abort.abort(new Error('the stream has ended'));
    }
  }

  async #prepare({ url, target, client, item }: StreamRequest, context: StreamContext): Promise<Prepared> {
    const { extraction: extractions, planSettings } = this.#options;
    const extraction = await context.timings.measure('extract', () =>
      extractions.extract(url, { signal: context.signal, client, item }),
    );
    return { extraction, plan: planTarget(extraction, target, planSettings) };
  }

  /** A renewal counts as the client's own extraction. */
  #renewal({ url, client, item }: PageRequest): RenewSource {
    return async (source, signal) => this.#options.extraction.renew(url, source, { signal, client, item });
  }

  async #runInSlot(run: StreamRun): Promise<void> {
    const { plan, context, abort, deadline } = run;
    const { firstByteTimeoutMs } = this.#options.limits;
    if (waitMs(plan.inputs, Date.now()) > 0) {
      await context.timings.measure('availability', () =>
        untilAvailable(plan.inputs, { signal: abort.signal, maxMs: firstByteTimeoutMs }),
      );
    }
    const release = await context.timings.measure('queue', () =>
      deadline.during(queueTimeout, () => this.#slots.acquire(run.request.client, abort.signal)),
    );
    try {
      const other = await this.#sendOriginal(run);
      if (other !== undefined) await this.#make({ ...run, plan: other });
    } finally {
      release();
    }
  }

  /**
   * Sends the site's own file where that is the answer.
   * @returns otherwise the plan of what has to be made
   */
  async #sendOriginal(run: StreamRun): Promise<Plan | undefined> {
    const { plan, abort } = run;
    const isRemembered = this.#originals.remembers(plan);
    const look = await this.#look(run);
    if (look === undefined) return plan;
    if (!look.isOriginal) return this.#replan(run, look);
    try {
      await this.#sendFile(run, look.file);
    } catch (error) {
      abort.signal.throwIfAborted();
      this.#originals.forget(plan);
      // It may be another file since it was looked at; looked at again, it is told what it is now.
      if (!isRemembered || run.response.headersSent || isOfTheRequest(error)) throw error;
      return this.#sendOriginal(run);
    }
    return undefined;
  }

  async #look({ plan, request, abort, renew }: StreamRun): Promise<Look | undefined> {
    return this.#originals.look(plan, { signal: abort.signal, renew, client: request.client });
  }

  async #sendFile(run: StreamRun, original: OriginalFile): Promise<void> {
    const { plan, request, response, context, abort, deadline } = run;
    const { limits, upstream } = this.#options;
    if (original.totalBytes > limits.maxOutputBytes)
      throw tooLarge(plan.target, `has ${original.totalBytes} bytes`, limits);
    const file = { ...original, hasRanges: true };
    const selection = this.#select(request, file);
    const status = statusOf(selection, file, response);
    context.note({ delivery: 'original' });
    await sendOriginal({
      ...{ plan, response, abort, deadline, limits, selection, status, file },
      isCrowded: () => this.#slots.waiting > 0,
      reader: upstream.reader(original.object, { signal: abort.signal, exit: plan.inputs[0]?.origin?.exit }),
      timings: context.timings,
      onBytes: (bytes) => this.#metrics.addBytes(plan.target, bytes),
    });
  }

  #select(request: StreamRequest, file: KnownFile): Selection {
    const version = file.etag ?? String(file.totalBytes);
    const selection = selectRange(request, file);
    const isRest = selection.kind === 'part' && selection.start > 0;
    // Another replica may have sent the beginning, from another version of the file.
    if (isRest && request.ifRange === undefined && !this.#sentVersions.holds(request, version)) return whole;
    this.#sentVersions.remember(request, version);
    return selection;
  }

  /** What is made can be left out at the beginning, not at the end, where it is verified. */
  #selectToEnd(request: StreamRequest, file: KnownFile): Selection {
    if (!file.hasRanges) return whole;
    const selection = this.#select(request, file);
    return selection.kind === 'part' && selection.end !== file.totalBytes - 1 ? whole : selection;
  }

  /** The plan for a file that is something else than its page says: by what is in it. */
  async #replan({ extraction, plan, request, abort, renew }: StreamRun, look: Look): Promise<Plan> {
    const { relay, tools, planSettings } = this.#options;
    const { client } = request;
    const [source] = plan.inputs;
    const seen = look.isOriginal || look.streams === null ? undefined : look.streams;
    const streams = seen ?? (source && (await probeStreams(source, { relay, tools, abort, renew, client })));
    const refined = streams === undefined ? extraction : withStreams(extraction, plan, streams);
    return planTarget(refined, request.target, planSettings);
  }

  async #make({ plan, request, response, context, abort, deadline, renew }: StreamRun): Promise<void> {
    const { relay, upstream, tools, limits } = this.#options;
    const { client } = request;
    context.note({ delivery: 'made' });
    const cover = fetchCover(upstream, plan, { signal: abort.signal, logger: context.logger });
    const stated = await this.#statedSound(plan, { signal: abort.signal, renew, client });
    const exact = stated && exactMp3(plan, stated, { cover: await cover, tools });
    const selection = exact === null ? whole : this.#selectToEnd(request, exact.file);
    statusOf(selection, exact?.file ?? null, response);
    if (exact !== null && selection.kind === 'part')
      this.#resumes.spend(
        request.client,
        Math.max(0, selection.start - exact.tag.length) / mp3BytesPerSecond,
      );
    const session = relay.open({ signal: abort.signal, renew, exit: plan.inputs[0]?.origin?.exit, client });
    try {
      await runStreamJob({
        isCrowded: () => this.#slots.waiting > 0,
        ...{ plan, response, abort, deadline, session, relay, renew, tools, limits, cover, exact, selection },
        logger: context.logger,
        timings: context.timings,
        onBytes: (bytes) => this.#metrics.addBytes(plan.target, bytes),
      });
    } catch (error) {
      const [source] = plan.inputs;
      const isOfTheFile = error instanceof DomainError && error.code === 'upstream_error';
      if (exact !== null && source && isOfTheFile && session.failure === undefined)
        this.#misstating.add(source);
      throw error;
    } finally {
      session.close();
    }
  }

  /** What a file states about its audio; null once a stream has shown that it states more than it has. */
  async #statedSound(plan: Plan, options: HeadOptions): Promise<StatedSound | null> {
    const [source] = plan.inputs;
    if (source !== undefined && this.#misstating.has(source)) return null;
    return statedSound(this.#options.heads, plan, options);
  }

  /** Ends all streams and waits until nothing of them is left. */
  async [Symbol.asyncDispose](): Promise<void> {
    const reason = new DomainError('engine_unavailable', 'The service is shutting down.', {
      retryAfterSeconds: 5,
    });
    for (const abort of this.#active.keys()) abort.abort(reason);
    await Promise.allSettled(this.#active.values());
  }
}

function endOf(response: ServerResponse, context: StreamContext): StreamEnd {
  if (context.signal.aborted) return 'aborted';
  return response.headersSent ? 'truncated' : 'failed';
}

function queueTimeout(): DomainError {
  return new DomainError('overloaded', 'No place became free in time. Try again in a moment.', {
    retryAfterSeconds: 15,
  });
}

function totalTimeout(totalTimeoutMs: number): DomainError {
  return new DomainError(
    'timeout',
    `A stream may take ${totalTimeoutMs / 1000} s altogether, and this one took longer.`,
  );
}

/** What says something of the request, not of the site's file. */
function isOfTheRequest(error: unknown): boolean {
  return (
    error instanceof DomainError && (error.code === 'range_not_satisfiable' || error.code === 'too_long')
  );
}
