import type { ServerResponse } from 'node:http';
import { DomainError, type Logger, type Metrics, type RequestContext } from '@media-services/http-common';
import type { ExtractionService, Target } from '../extract/index.js';
import type { MediaTools } from '../ffmpeg/tools.js';
import { planTarget, type Plan, type PlanLimits } from '../plan/plan.js';
import type { MediaRelay, RenewSource } from '../relay/index.js';
import { runStreamJob } from './job.js';
import { StreamAbort, watched, type StreamLimits } from './limits.js';
import { streamMetrics, type StreamEnd, type StreamMetrics } from './metrics.js';
import { untilAvailable, waitMs } from '../upstream/availability.js';
import { fetchCover } from './mp3-header.js';
import { streamHeaders } from './response.js';
import { StreamSlots } from './slots.js';

export interface StreamingOptions {
  extraction: Pick<ExtractionService, 'extract' | 'renew'>;
  relay: Pick<MediaRelay, 'open' | 'fetchBytes'>;
  tools: MediaTools;
  planLimits: PlanLimits;
  limits: StreamLimits;
  metrics: Metrics;
  logger: Logger;
}

type StreamContext = Pick<RequestContext, 'signal' | 'timings' | 'logger'>;

interface StreamRun {
  readonly plan: Plan;
  readonly response: ServerResponse;
  readonly context: StreamContext;
  readonly abort: StreamAbort;
  readonly renew: RenewSource;
}

/** Turns the address of a page into an MP3 or MP4 that is sent while it is made. */
export class StreamingService implements AsyncDisposable {
  readonly #options: StreamingOptions;
  readonly #slots: StreamSlots;
  readonly #metrics: StreamMetrics;
  readonly #active = new Map<StreamAbort, Promise<void>>();

  constructor(options: StreamingOptions) {
    this.#options = options;
    const { maxConcurrent, maxQueued } = options.limits;
    this.#slots = new StreamSlots({ maxRunning: maxConcurrent, maxWaiting: maxQueued });
    this.#metrics = streamMetrics(options.metrics, this.#slots);
  }

  /**
   * What a stream will be, without making it.
   *
   * @throws DomainError as extraction and plan do.
   */
  async prepare(
    url: string,
    target: Target,
    context: Pick<StreamContext, 'signal' | 'timings'>,
  ): Promise<Plan> {
    const { extraction, planLimits } = this.#options;
    const extracted = await context.timings.measure('extract', () =>
      extraction.extract(url, { signal: context.signal }),
    );
    return planTarget(extracted, target, planLimits);
  }

  /**
   * The headers that the stream would have, without making it.
   *
   * @throws DomainError as extraction and plan do.
   */
  async headers(url: string, target: Target, context: StreamContext): Promise<Record<string, string>> {
    const plan = await this.prepare(url, target, context);
    return streamHeaders(plan, await fetchCover(this.#options.relay, plan, context));
  }

  /**
   * Extracts, makes and sends the stream; when it returns, the response is
   * finished and verified, and nothing of it is left running.
   *
   * @throws DomainError, or the reason of the context's signal. Once headers are sent the connection must be reset.
   */
  async stream(url: string, target: Target, response: ServerResponse, context: StreamContext): Promise<void> {
    // Before the extraction: a full service should not spend one on a request it will refuse.
    this.#slots.assertRoom();
    const plan = await this.prepare(url, target, context);
    const { totalTimeoutMs } = this.#options.limits;
    using abort = new StreamAbort(context.signal, totalTimeoutMs, () => totalTimeout(totalTimeoutMs));
    const renew: RenewSource = async (source, signal) => this.#options.extraction.renew(url, source, signal);
    const running = this.#run({ plan, response, context, abort, renew });
    this.#active.set(abort, running);
    try {
      await running;
      this.#metrics.countEnd(target, 'ok');
    } catch (error) {
      this.#metrics.countEnd(target, endOf(response, context));
      throw error;
    } finally {
      this.#active.delete(abort);
      // What has no other end, such as a thumbnail still on its way.
      abort.abort(new Error('the stream has ended'));
    }
  }

  async #run({ plan, response, context, abort, renew }: StreamRun): Promise<void> {
    const { relay, tools, limits } = this.#options;
    if (waitMs(plan.inputs, Date.now()) > 0) {
      const { firstByteTimeoutMs: maxMs } = limits;
      await context.timings.measure('availability', () =>
        untilAvailable(plan.inputs, { signal: abort.signal, maxMs }),
      );
    }
    const release = await context.timings.measure('queue', () =>
      watched(
        limits.firstByteTimeoutMs,
        () => abort.abort(queueTimeout()),
        () => this.#slots.acquire(abort.signal),
      ),
    );
    try {
      const session = relay.open({ signal: abort.signal, renew, exit: plan.inputs[0]?.origin?.exit });
      try {
        await runStreamJob({
          ...{ plan, response, abort, session, relay, renew, tools, limits },
          logger: context.logger,
          timings: context.timings,
          onBytes: (bytes) => this.#metrics.addBytes(plan.target, bytes),
        });
      } finally {
        session.close();
      }
    } finally {
      release();
    }
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
