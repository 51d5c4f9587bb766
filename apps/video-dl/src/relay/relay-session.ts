import type { DomainError } from '@media-services/http-common';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { DashResource } from './dash/dash-resource.js';
import { FileResource } from './file-resource.js';
import { FragmentsResource } from './fragments-resource.js';
import { HlsResource } from './hls/hls-resource.js';
import { LiveSource } from '../upstream/live-source.js';
import type { MediaSource, RenewSource } from '../upstream/media-source.js';
import { notFound, type Resource } from './resource.js';
import { breakOff } from './respond.js';
import type { TransferContext } from '../upstream/transfer-context.js';
import { faultFrom, TransferFault } from '../upstream/transfer-fault.js';
import { tooLarge } from '../upstream/upstream-part.js';

/** The media of one job on their way from upstream to ffmpeg. */
export interface RelaySession {
  /** Loopback address for ffmpeg or ffprobe to read the source at. */
  add(source: MediaSource): string;
  /** Resolves with the first upstream failure that was not recovered; never rejects. */
  readonly failed: Promise<DomainError>;
  readonly failure: DomainError | undefined;
  /** From upstream, what was read twice counted twice. */
  readonly bytesReceived: number;
  /**
   * Whether everything that ffmpeg asked for to its end has arrived, and every
   * segment or fragment that a source lists. A range that ffmpeg itself left is not missed.
   */
  allReceived(): boolean;
  /** Takes the addresses back and destroys every connection, both sides. */
  close(): void;
}

interface SessionOptions {
  readonly context: Omit<TransferContext, 'countReceived'>;
  /** Aborted by the session when it closes. */
  readonly closing: AbortController;
  /** Reserves an address: returns it, with a trailing slash. */
  readonly publish: (session: SessionRecord) => { token: string; url: string };
  readonly onClose: (tokens: Iterable<string>) => void;
  readonly renew: RenewSource | undefined;
}

/** The relay's side of a session. */
export class SessionRecord implements RelaySession {
  readonly failed: Promise<DomainError>;
  readonly #options: SessionOptions;
  readonly #context: TransferContext;
  readonly #resources = new Map<string, Resource>();
  #resolveFailed: (failure: DomainError) => void = () => undefined;
  #failure: DomainError | undefined;
  #bytesReceived = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => (this.#resolveFailed = resolve));
    this.#context = { ...options.context, countReceived: (bytes) => this.#count(bytes) };
  }

  get failure(): DomainError | undefined {
    return this.#failure;
  }

  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  add(source: MediaSource): string {
    const { token, url } = this.#options.publish(this);
    const live = new LiveSource(source, this.#options.renew);
    const resource = this.#resourceFor(live, url);
    this.#resources.set(token, resource);
    return `${url}${resource.entryPath}`;
  }

  allReceived(): boolean {
    return (
      this.#failure === undefined && [...this.#resources.values()].every((resource) => resource.isComplete())
    );
  }

  close(): void {
    if (this.#options.closing.signal.aborted) return;
    this.#options.closing.abort(new Error('the relay session was closed'));
    this.#options.onClose(this.#resources.keys());
  }

  /** Answers a request for one of the session's addresses. */
  async serve(
    token: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const resource = this.#resources.get(token);
    if (!resource) {
      notFound(response);
      return;
    }
    // After a failure nothing more is given out: ffmpeg goes over a lost segment without a word.
    if (this.#failure) {
      breakOff(response);
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the reader closed the connection')));
    const signal = AbortSignal.any([this.#options.closing.signal, gone.signal]);
    const [pathname = '', query] = path.split(/\?(.*)/s, 2);
    try {
      await resource.serve({
        path: pathname,
        search: query === undefined ? '' : `?${query}`,
        method: request.method === 'HEAD' ? 'HEAD' : 'GET',
        range: request.headers.range,
        response,
        signal,
      });
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
      breakOff(response);
    }
  }

  #fail(error: unknown): void {
    const { failure } = error instanceof TransferFault ? error : faultFrom(error);
    this.#context.logger.warn({ code: failure.code, err: failure }, 'upstream failed beyond recovery');
    this.#failure ??= failure;
    this.#resolveFailed(this.#failure);
  }

  #count(bytes: number): void {
    this.#bytesReceived += bytes;
    const { maxBytes } = this.#context.limits;
    if (this.#bytesReceived > maxBytes) throw tooLarge(maxBytes);
  }

  #resourceFor(live: LiveSource, url: string): Resource {
    const { kind, fragments } = live.current;
    switch (kind) {
      case 'file':
        return new FileResource(live, this.#context);
      case 'hls':
        return new HlsResource(live, this.#context);
      case 'fragments':
        return new FragmentsResource(live, this.#context);
      case 'dash':
        return fragments && fragments.length > 0
          ? new FragmentsResource(live, this.#context)
          : new DashResource(live, this.#context, url);
    }
  }
}
