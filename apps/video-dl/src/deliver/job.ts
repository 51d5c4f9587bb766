import type { ServerResponse } from 'node:http';
import { DomainError, type RequestContext } from '@media-services/http-common';
import type { PageUrl } from '../extract/page-url.js';
import type { Target } from '../targets.js';
import type { ClipRequest } from '../plan/clip.js';
import type { MediaRelay } from '../relay/media-relay.js';
import type { RelaySession } from '../relay/session.js';
import type { MediaSource, RenewSource } from '../upstream/media-source.js';
import type { StreamLimits } from '../capacity.js';
import type { ConditionHeaders } from './conditions.js';
import type { RangeHeaders } from './ranges.js';
import { ClientWriter, type SaveAs } from './response.js';
import { slowSource, SourceRate, type Progress } from './source-rate.js';

export type StreamContext = Pick<RequestContext, 'signal' | 'timings' | 'logger' | 'note'>;

export interface StreamRequest extends RangeHeaders, ConditionHeaders {
  /** URL of the page. */
  readonly url: PageUrl;
  readonly target: Target;
  /** The client's IP. */
  readonly client: string;
  /** Number of the video on a page with several, from 1. */
  readonly item?: number | undefined;
  /** Of the audio; the original if absent. */
  readonly language?: string | undefined;
  /** Languages of subtitles to add. */
  readonly subtitles?: readonly string[];
  readonly clip?: ClipRequest | undefined;
  readonly saveAs?: SaveAs | undefined;
}

const countedAtOnce = 1024 ** 2;

interface StreamJobOptions extends Pick<StreamJob, 'request' | 'response' | 'context' | 'limits' | 'renew'> {
  readonly relay: Pick<MediaRelay, 'open'>;
  onBytes(bytes: number): void;
  /** Whether other requests wait for a slot. */
  isCrowded(): boolean;
}

/**
 * One response from its extraction to its last byte. Owns the relay session, the writer, and everything
 * that ends a stream early (the client leaves, a deadline passes, upstream fails, the service stops).
 */
export class StreamJob implements Disposable {
  readonly request: StreamRequest;
  readonly response: ServerResponse;
  readonly context: StreamContext;
  readonly limits: StreamLimits;
  readonly renew: RenewSource;
  readonly #options: StreamJobOptions;
  #controller = new AbortController();
  readonly #totalTimer: NodeJS.Timeout;
  /** Covers everything before the first byte: the site's waiting time, the queue, probing the source, ffmpeg. */
  readonly #firstByteTimer: NodeJS.Timeout;
  readonly #onClientGone = (): void => this.abort(this.context.signal.reason);
  /** Whether a slot is what the stream waits for. */
  isQueued = false;
  #session: RelaySession | undefined;
  readonly #writer: ClientWriter;
  /** Sent since the last call of `onBytes`, which counts with labels and so costs about as much as a write. */
  #uncountedBytes = 0;

  constructor(options: StreamJobOptions) {
    const { request, response, context, limits, renew } = options;
    this.#options = options;
    this.request = request;
    this.response = response;
    this.context = context;
    this.limits = limits;
    this.renew = renew;
    this.#writer = new ClientWriter(response, this);
    const { totalTimeoutMs, firstByteTimeoutMs } = limits;
    // setTimeout takes 31 bits; a longer limit amounts to none.
    const totalMs = Math.min(totalTimeoutMs, 2 ** 31 - 1);
    this.#totalTimer = setTimeout(() => this.abort(totalTimeout(totalTimeoutMs)), totalMs);
    this.#firstByteTimer = setTimeout(
      () => this.abort(this.isQueued ? queueTimeout() : firstByteTimeout(limits)),
      firstByteTimeoutMs,
    );
    context.signal.addEventListener('abort', this.#onClientGone, { once: true });
    if (context.signal.aborted) this.#onClientGone();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the stream. Only the first reason counts. */
  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Makes another attempt possible after one that failed before it sent anything. */
  restart(): void {
    this.#controller = new AbortController();
    if (this.context.signal.aborted) this.#onClientGone();
  }

  /** Opens the stream's relay session, in place of an earlier one. Its failure aborts the stream. */
  openSession(source: MediaSource | undefined): RelaySession {
    this.#session?.close();
    const { relay, renew, request } = this.#options;
    const options = { signal: this.signal, renew, exit: source?.origin?.exit, client: request.client };
    const session = relay.open(options);
    void session.failed.then((failure) => this.abort(failure));
    this.#session = session;
    return session;
  }

  /** Sends the headers; call once the first byte of media exists. */
  begin(headers: Record<string, string>): void {
    this.signal.throwIfAborted();
    clearTimeout(this.#firstByteTimer);
    this.response.writeHead('Content-Range' in headers ? 206 : 200, headers);
  }

  /** Sends bytes with backpressure. @throws the signal's reason */
  async send(...parts: readonly Uint8Array[]): Promise<void> {
    for (const { length } of parts) this.#uncountedBytes += length;
    if (this.#uncountedBytes >= countedAtOnce) this.#countBytes();
    await this.#writer.write(...parts);
  }

  /** Ends a complete response. @throws the signal's reason */
  async end(): Promise<void> {
    await this.#writer.end();
  }

  /** Aborts the stream when the source is too slow to keep its slot, or silent. */
  watchSource(progress: () => Progress, silence?: { maxMs: number; reason: () => Error }): SourceRate {
    return new SourceRate({
      progress,
      minBytesPerMinute: this.limits.minSourceBytesPerMinute,
      isCrowded: () => this.#options.isCrowded(),
      onStarved: () => this.abort(slowSource()),
      maxSilenceMs: silence?.maxMs ?? Infinity,
      onSilent: () => this.abort(silence?.reason()),
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#totalTimer);
    clearTimeout(this.#firstByteTimer);
    this.context.signal.removeEventListener('abort', this.#onClientGone);
    this.#session?.close();
    this.#countBytes();
    // Stops everything still running, such as a thumbnail request.
    this.abort(new Error('the stream has ended'));
  }

  #countBytes(): void {
    this.#options.onBytes(this.#uncountedBytes);
    this.#uncountedBytes = 0;
  }
}

function queueTimeout(): DomainError {
  return new DomainError('overloaded', 'No slot became free in time. Try again in a moment.', {
    retryAfterSeconds: 15,
  });
}

function firstByteTimeout({ firstByteTimeoutMs }: StreamLimits): DomainError {
  return new DomainError(
    'upstream_timeout',
    `The stream didn't start within ${firstByteTimeoutMs / 1000} s. Try again later.`,
  );
}

function totalTimeout(totalTimeoutMs: number): DomainError {
  return new DomainError(
    'timeout',
    `The stream took longer than the limit of ${totalTimeoutMs / 1000} s. Request a part of the video, or try again later.`,
  );
}
