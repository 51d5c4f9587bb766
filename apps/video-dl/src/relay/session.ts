import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { DomainError } from '@media-services/http-common';
import type { Parse } from '../parser-process/parser-pool.js';
import type { MediaSource, RenewSource, TransferContext } from '../upstream/media-source.js';
import { RenewableSource } from '../upstream/renewable-source.js';
import type { ObjectIdentity } from '../upstream/object-identity.js';
import { faultFrom, finalFault } from '../upstream/transfer-fault.js';
import { tooLarge } from '../upstream/upstream-part.js';
import { FileResource } from './file-resource.js';
import type { TrackChanges, TrackLengths } from '../formats/joiner.js';
import type { MediaInput } from '../formats/media-input.js';
import { OpenedResource, type OpenedBytes } from './opened-resource.js';
import { abortResponse, type Resource } from './resource.js';
import { OpenedSegments, type TimeSpan } from './opened-segments.js';
import { segmentTracks, type Carries, type SegmentTrack } from './tracks.js';

/** An input whose URL works only for children with the session's environment. */
export interface RelayInput extends MediaInput {
  /** One stream joined from segments, checked and measured by the relay, without seeking. */
  readonly isJoined: boolean;
  /** Lengths of the delivered media; null until everything is delivered, or if they aren't measured. */
  readonly lengths: TrackLengths | null;
  /** Whether all of it has been delivered, and a file is proven complete, whatever duration it states. */
  readonly isWhole: boolean;
  /** What has changed so far, and behind the discontinuities that `lookAhead` has read. */
  readonly changes: TrackChanges;
  /** Requests a file's beginning now, so that it arrives while ffmpeg starts. Segments have already done so. */
  readAhead?(): void;
  /** Reads what the video and the audio are behind marked discontinuities. @throws the reason of the session's end */
  lookAhead?(): Promise<void>;
  /**
   * Writes joined segments into a child's input, which costs less than reading them from the URL. Ends the input only
   * when it is complete. Resolves when it is, its reader has left, or the session has failed; never rejects.
   */
  readonly feed?: (target: Writable) => Promise<void>;
}

interface SessionOptions {
  readonly context: Omit<TransferContext, 'countReceived'>;
  readonly parse: Parse;
  /** Aborted by the session when it closes. */
  readonly closing: AbortController;
  readonly environment: Readonly<Record<string, string>>;
  readonly renew: RenewSource | undefined;
}

/** A session as its owner sees it. */
export type RelaySession = Omit<ServedSession, 'serve'>;

/** Carries the media of one job from upstream to ffmpeg. */
export class ServedSession {
  /** Environment variables that let a child reach the session's inputs, and nothing else. */
  readonly environment: Readonly<Record<string, string>>;
  /** Parses input that arrives whole, on behalf of the session's client. */
  readonly parse: Parse;
  /** Resolves with the first unrecovered upstream failure; never rejects. */
  readonly failed: Promise<DomainError>;
  readonly #options: SessionOptions;
  readonly #context: TransferContext;
  readonly #resources: Resource[] = [];
  #resolveFailed: (failure: DomainError) => void = () => undefined;
  #failure: DomainError | undefined;
  #bytesReceived = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.environment = options.environment;
    this.parse = options.parse;
    this.failed = new Promise((resolve) => (this.#resolveFailed = resolve));
    this.#context = { ...options.context, countReceived: (bytes) => this.#count(bytes) };
  }

  get failure(): DomainError | undefined {
    return this.#failure;
  }

  /** From upstream; bytes read twice count twice. */
  get bytesReceived(): number {
    return this.#bytesReceived;
  }

  /**
   * Makes a source readable. Reads its playlist and the beginning of its segments.
   * @param wanted the track to read; if the source has separate video and audio, the other isn't requested
   * @param span the part to read; only the segments it needs are requested
   * @param readsAudioOnly whether the video's encoding may change
   * @param identity of the version seen before, if the source is a file
   * @returns one input, or video and audio if the source has them separately and both are wanted
   * @throws DomainError, which also becomes the session's failure; the reason of the session's end
   */
  async add(
    source: MediaSource,
    wanted: Carries = 'all',
    span: TimeSpan | null = null,
    readsAudioOnly = wanted === 'audio',
    identity?: ObjectIdentity,
  ): Promise<readonly RelayInput[]> {
    const { signal } = this.#options.closing;
    signal.throwIfAborted();
    const isWanted = ({ carries }: SegmentTrack) =>
      wanted === 'all' || carries === 'all' || carries === wanted;
    const renewable = new RenewableSource(source, this.#context, this.#options.renew);
    if (source.kind === 'file') return [this.#fileInput(new FileResource(renewable, identity))];
    try {
      const tracks = await segmentTracks({ source: renewable, parse: this.parse }, signal);
      return await Promise.all(
        tracks.filter(isWanted).map(async ({ carries, index }) => {
          const reading = { span, readsAudioOnly: readsAudioOnly || carries === 'audio' };
          const segments = new OpenedSegments(index, this.parse, reading);
          return this.#segmentsInput(segments, await segments.open(signal));
        }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw this.#fail(error);
    }
  }

  /** Makes a response readable that was requested before, once and without seeking. */
  addOpened(bytes: OpenedBytes): RelayInput {
    const resource = new OpenedResource(bytes);
    return {
      url: this.#urlOf(resource),
      isJoined: false,
      lengths: null,
      get isWhole() {
        return resource.isComplete();
      },
      changes: {},
    };
  }

  /**
   * Whether everything that ffmpeg requested has arrived, and every segment that a source
   * lists. Ranges that ffmpeg itself abandoned don't count.
   */
  allReceived(): boolean {
    return (
      this.#failure === undefined && this.#resources.every((resource) => resource.isComplete?.() !== false)
    );
  }

  /** Ends the inputs and destroys all connections to ffmpeg and upstream. */
  close(): void {
    this.#options.closing.abort(new Error('the relay session was closed'));
  }

  /**
   * Handles a request from one of the session's children.
   * @param target the absolute URL, as in any request to a proxy
   */
  async serve(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const number = /^http:\/\/relay(?::80)?\/(\d{1,6})$/.exec(target)?.[1];
    if (number === undefined) {
      this.#rejectTarget(target, response);
      return;
    }
    const resource = this.#resources[Number(number)];
    if (!resource) {
      response.writeHead(404, { 'content-length': 0 }).end();
      return;
    }
    // After a failure nothing more is delivered, so that no response can look complete.
    if (this.#failure) {
      abortResponse(response);
      return;
    }
    const signal = this.#untilGone(response);
    try {
      await resource.serve(request.headers.range, response, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
      abortResponse(response);
    }
  }

  #urlOf(resource: Resource): string {
    // The host exists only for the relay, which is ffmpeg's proxy.
    return `http://relay/${this.#resources.push(resource) - 1}`;
  }

  #fileInput(file: FileResource): RelayInput {
    return {
      url: this.#urlOf(file),
      isJoined: false,
      lengths: null,
      get isWhole() {
        return file.isWhole;
      },
      get changes() {
        return file.changes;
      },
      readAhead: () => file.readAhead(this.#options.closing.signal),
    };
  }

  #segmentsInput(segments: OpenedSegments, beginning: Omit<MediaInput, 'url'>): RelayInput {
    const resource = new OpenedResource(segments);
    return {
      ...beginning,
      url: this.#urlOf(resource),
      isJoined: true,
      get isWhole() {
        return resource.isComplete();
      },
      get lengths() {
        return resource.isComplete() ? segments.lengths : null;
      },
      get changes() {
        return segments.changes;
      },
      lookAhead: () => segments.lookAhead(this.#options.closing.signal),
      feed: (target) => this.#feed(resource, target),
    };
  }

  async #feed(resource: OpenedResource, target: Writable): Promise<void> {
    const signal = this.#untilGone(target);
    try {
      await resource.feed(target, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  /** Aborts when the reader leaves or the session ends. */
  #untilGone(reader: Writable): AbortSignal {
    const gone = new AbortController();
    for (const event of ['close', 'error'])
      reader.once(event, () => gone.abort(new Error('the reader closed its input')));
    return AbortSignal.any([this.#options.closing.signal, gone.signal]);
  }

  /** Media that send ffmpeg to another host are an attack. */
  #rejectTarget(target: string, response: ServerResponse): void {
    const host = URL.canParse(target) ? new URL(target).host : 'an invalid URL';
    const detail =
      "The site's media file refers to another URL, which isn't allowed. Try another page or format.";
    this.#context.logger.warn({ host }, 'ffmpeg requested a host other than the relay');
    this.#fail(finalFault('forbidden_address', detail));
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
