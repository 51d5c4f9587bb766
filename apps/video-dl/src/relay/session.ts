import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@media-services/http-common';
import type { Parse } from '../parsing/parser-pool.js';
import type { MediaSource, RenewSource } from '../upstream/media-source.js';
import { RenewableSource } from '../upstream/renewable-source.js';
import { faultFrom, TransferFault } from '../upstream/transfer-fault.js';
import { tooLarge } from '../upstream/upstream-part.js';
import { FileResource } from './file-resource.js';
import type { TrackLengths } from './join/joiner.js';
import type { RelayContext, Resource } from './resource.js';
import { breakOff } from './respond.js';
import { SegmentsResource, type TimeSpan } from './segments-resource.js';
import { segmentTracks, type Carries, type SegmentTrack } from './tracks.js';

/** The host under which ffmpeg knows the relay; the relay is its proxy, and the only one that knows this name. */
const relayHost = 'relay';

/** Something for ffmpeg to read. */
export interface RelayInput {
  /** Means something to children with the session's environment only. */
  readonly url: string;
  readonly carries: Carries;
  /** It comes as one stream out of segments, which the relay checks and counts, and cannot be sought in. */
  readonly isJoined: boolean;
  /** The first presentation time by the source's own clock, in seconds; null where it has none. */
  readonly startSeconds: number | null;
  /** Audio in front of time zero, in seconds, that players leave out. */
  readonly hiddenSeconds: number;
  /** Where in the whole it begins, in seconds; null where it is the whole, or where only a reader can find that out. */
  readonly offsetSeconds: number | null;
  /** Length of the whole as the playlist states it; null where it doesn't. */
  readonly statedSeconds: number | null;
  /** What was delivered, once it is all; null where it is not counted. */
  readonly lengths: TrackLengths | null;
}

/** The media of one job on their way from upstream to ffmpeg. */
export interface RelaySession {
  /** What a child needs in its environment to reach the session's inputs; it reaches nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** Parses what arrives whole, in the name of the session's client. */
  readonly parse: Parse;
  /**
   * Makes a source readable: reads its playlist and the beginning of its segments.
   * @param wanted the track that will be read: where the source has video and audio apart, the other is not touched
   * @param span the part that will be read: of a source in segments, only what that needs
   * @returns one input, or two where the source has video and audio apart and both are wanted
   * @throws DomainError, which is the session's failure too; the session's end as a reason
   */
  add(source: MediaSource, wanted?: Carries, span?: TimeSpan | null): Promise<readonly RelayInput[]>;
  /** Resolves with the first upstream failure that was not recovered; never rejects. */
  readonly failed: Promise<DomainError>;
  readonly failure: DomainError | undefined;
  /** From upstream; what was read twice counts twice. */
  readonly bytesReceived: number;
  /**
   * Whether everything that ffmpeg asked for to its end has arrived, and every
   * segment that a source lists. A range that ffmpeg itself left is not missed.
   */
  allReceived(): boolean;
  /** Ends the inputs and destroys every connection, both sides. */
  close(): void;
}

interface SessionOptions {
  readonly context: Omit<RelayContext, 'countReceived'>;
  /** Aborted by the session when it closes. */
  readonly closing: AbortController;
  readonly environment: Readonly<Record<string, string>>;
  readonly onClose: () => void;
  readonly renew: RenewSource | undefined;
}

/** A session with the side that the relay's server sees. */
export class ServedSession implements RelaySession {
  readonly failed: Promise<DomainError>;
  readonly #options: SessionOptions;
  readonly #context: RelayContext;
  readonly #resources: Resource[] = [];
  #resolveFailed: (failure: DomainError) => void = () => undefined;
  #failure: DomainError | undefined;
  #bytesReceived = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => (this.#resolveFailed = resolve));
    this.#context = { ...options.context, countReceived: (bytes) => this.#count(bytes) };
  }

  get environment(): Readonly<Record<string, string>> {
    return this.#options.environment;
  }

  get parse(): Parse {
    return this.#context.parse;
  }

  get failure(): DomainError | undefined {
    return this.#failure;
  }

  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  async add(
    source: MediaSource,
    wanted: Carries = 'all',
    span: TimeSpan | null = null,
  ): Promise<readonly RelayInput[]> {
    const { signal } = this.#options.closing;
    signal.throwIfAborted();
    const renewable = new RenewableSource(source, this.#options.renew);
    if (source.kind === 'file') return [this.#fileInput(new FileResource(renewable, this.#context), 'all')];
    try {
      const tracks = await segmentTracks({ source: renewable, context: this.#context }, signal);
      return await Promise.all(
        wantedOf(tracks, wanted).map(async ({ carries, index }) => {
          const readsAudioOnly = wanted === 'audio' || carries === 'audio';
          const resource = new SegmentsResource(index, this.#context, { span, readsAudioOnly });
          await resource.prepare(signal);
          return this.#segmentsInput(resource, carries);
        }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw this.#fail(error);
    }
  }

  allReceived(): boolean {
    return this.#failure === undefined && this.#resources.every((resource) => resource.isComplete());
  }

  close(): void {
    if (this.#options.closing.signal.aborted) return;
    this.#options.closing.abort(new Error('the relay session was closed'));
    this.#options.onClose();
  }

  /**
   * Answers a request of one of the session's children.
   * @param target as a client of a proxy names it: the whole URL
   */
  async serve(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = /^http:\/\/relay(?::80)?\/(\d{1,6})$/.exec(target)?.[1];
    if (number === undefined) {
      this.#refuse(target, response);
      return;
    }
    const resource = this.#resources[Number(number)];
    if (!resource) {
      response.writeHead(404, { 'content-length': 0 }).end();
      return;
    }
    // After a failure nothing more is given out: what a reader has must not look whole.
    if (this.#failure) {
      breakOff(response);
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the reader closed the connection')));
    const signal = AbortSignal.any([this.#options.closing.signal, gone.signal]);
    try {
      await resource.serve({
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

  #fileInput(resource: Resource, carries: Carries): RelayInput {
    const url = `http://${relayHost}/${this.#resources.push(resource) - 1}`;
    const unknown = {
      startSeconds: null,
      hiddenSeconds: 0,
      offsetSeconds: null,
      statedSeconds: null,
      lengths: null,
    };
    return { url, carries, isJoined: false, ...unknown };
  }

  #segmentsInput(resource: SegmentsResource, carries: Carries): RelayInput {
    const { url } = this.#fileInput(resource, carries);
    return {
      url,
      carries,
      isJoined: true,
      startSeconds: resource.startSeconds,
      hiddenSeconds: resource.hiddenSeconds,
      offsetSeconds: resource.offsetSeconds,
      statedSeconds: resource.statedSeconds,
      get lengths() {
        return resource.lengths;
      },
    };
  }

  /** Media that lead their reader elsewhere mean no good. */
  #refuse(target: string, response: ServerResponse): void {
    const host = URL.canParse(target) ? new URL(target).host : 'something that is no URL';
    const detail = 'The media of the site name another place to read from, which is not allowed.';
    this.#context.logger.warn({ host }, 'a child of the relay asked for a foreign host');
    this.#fail(new TransferFault(new DomainError('forbidden_address', detail), 'none'));
    response.writeHead(403, { connection: 'close', 'content-length': 0 }).end();
  }

  #fail(error: unknown): DomainError {
    this.#failure ??= this.#toFailure(error);
    this.#resolveFailed(this.#failure);
    return this.#failure;
  }

  #toFailure(error: unknown): DomainError {
    const { logger } = this.#context;
    try {
      const { failure } = faultFrom(error);
      logger.warn({ code: failure.code, err: failure }, 'upstream failed beyond recovery');
      return failure;
    } catch (mistake) {
      logger.warn({ err: mistake }, 'the relay itself failed');
      return new DomainError('internal_error', 'The service failed. Try again later.', { cause: mistake });
    }
  }

  #count(bytes: number): void {
    this.#bytesReceived += bytes;
    const { maxBytes } = this.#context.limits;
    if (this.#bytesReceived > maxBytes) throw tooLarge(maxBytes);
  }
}

function wantedOf(tracks: readonly SegmentTrack[], wanted: Carries): readonly SegmentTrack[] {
  const chosen = tracks.filter(({ carries }) => carries === wanted);
  return chosen.length === 0 ? tracks : chosen;
}
