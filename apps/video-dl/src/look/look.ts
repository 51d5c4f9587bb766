import { DomainError } from '@media-services/http-common';
import type { ProbeSource } from '../extract/probed-details.js';
import type { ProbedStream } from '../formats/probed.js';
import { ProbeError } from '../ffmpeg/probe.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import type { WantedWindow } from './layouts.js';
import { createProbeSource, type ProbeSourceOptions } from './media-header.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import type { SourceHead, SourceHeads } from './source-heads.js';

/** What a file really is, from its own bytes. */
export interface SourceFacts {
  readonly head: SourceHead;
  /** Its tracks; null if only ffmpeg can tell, and reports a better error than we could. */
  readonly streams: readonly ProbedStream[] | null;
}

/** By source. A source without facts is what its page says. */
export type Facts = ReadonlyMap<MediaSource, SourceFacts>;

/** For a plan that relies on the page alone. */
export const noFacts: Facts = new Map();

/** What the page promises. */
export interface Draft {
  /** One source with everything, or video and audio, in this order. */
  readonly inputs: readonly MediaSource[];
  /** Which site file may be sent unchanged (`audio` means any audio file); null if none. */
  readonly siteFile: 'mp4' | 'mp3' | 'audio' | null;
  /** Whether the site's files may be an MP4 but for their header. */
  readonly mayNeedOnlyHeader: boolean;
  /** Of a clip that may be one of MP4 files. */
  readonly window: WantedWindow | null;
  /** Whether ffmpeg can make the stream if the file turns out to be another. */
  readonly container: string | null;
}

export interface LookOptions extends ReaderOptions {
  readonly renew: RenewSource;
  /** Whether to look at everything that a stream depends on, or only at what costs a request at most. */
  readonly depth: 'one-file' | 'all';
}

export type LookerOptions = Omit<ProbeSourceOptions, 'maxMs'>;

const probeMs = 15_000;

/** Finds out what sources are where a stream depends on it. */
export class Looker {
  readonly #heads: SourceHeads;
  readonly #probeSource: ProbeSource;

  constructor(options: LookerOptions) {
    this.#heads = options.heads;
    this.#probeSource = createProbeSource({ ...options, maxMs: probeMs });
  }

  /**
   * What the files of a stream are; nothing if they haven't been released yet, or don't matter.
   * @throws DomainError when a file can't be read; the signal's reason
   */
  async look(draft: Draft, options: LookOptions): Promise<Facts> {
    const { inputs, siteFile, mayNeedOnlyHeader, window } = draft;
    // The site rejects early requests. A stream has waited by now.
    if (waitMs(inputs, Date.now()) > 0) return noFacts;
    if (siteFile === null && !mayNeedOnlyHeader && window === null) return noFacts;
    // Separate files have not been read yet, and the client may never download them.
    if (options.depth === 'one-file' && inputs.length > 1) return noFacts;
    const facts = inputs.map(
      async (source) => [source, await this.#factsOf(source, draft, options)] as const,
    );
    return new Map(await Promise.all(facts));
  }

  async #factsOf(source: MediaSource, draft: Draft, options: LookOptions): Promise<SourceFacts> {
    const facts = factsFrom(await this.#heads.of(source, options));
    const { head, streams } = facts;
    const isAsPromised =
      draft.siteFile === null || (draft.siteFile === 'audio' && (head.audioFile ?? draft.container) !== null);
    const isEnough = streams !== null || isAsPromised || options.depth === 'one-file';
    return { head, streams: isEnough ? streams : await this.#streamsOf(source, options) };
  }

  /** Whether a stream of these inputs must be made from a single response. */
  isOneShot([source, second]: readonly MediaSource[]): boolean {
    return source !== undefined && second === undefined && this.#heads.isOneShot(source);
  }

  /** The streams of a file; null if ffprobe can't read them. @throws DomainError; the signal's reason */
  async #streamsOf(source: MediaSource, options: ReaderOptions): Promise<readonly ProbedStream[] | null> {
    try {
      return (await this.#probeSource(source, options)).streams;
    } catch (error) {
      if (error instanceof DomainError && error.cause instanceof ProbeError) return null;
      throw error;
    }
  }
}

/** What a header shows by itself. */
export function factsFrom(head: SourceHead): SourceFacts {
  return { head, streams: head.probe?.streams ?? null };
}
