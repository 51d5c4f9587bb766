import { DomainError } from '@media-services/http-common';
import type { ProbeSource } from '../extract/probed-details.js';
import type { ProbedStream } from '../formats/probed.js';
import { ProbeError } from '../ffmpeg/probe.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import { waitMs, type MediaSource, type RenewSource } from '../upstream/media-source.js';
import { Layouts, type LaidOut, type LaidOutWindow, type Tags, type WantedWindow } from './layouts.js';
import { type Learnt, Lessons, type Page, UnexpectedMediaError } from './learnt.js';
import { createProbeSource, type ProbeSourceOptions } from './media-header.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import type { SourceHead } from './source-heads.js';

/** What a file really is, from its own bytes. */
export interface SourceFacts {
  readonly head: SourceHead;
  /** Its tracks; null if only ffmpeg can tell, and reports a better error than we could. */
  readonly streams: readonly ProbedStream[] | null;
}

/** By source. A source without facts is what its page says. */
export type Facts = ReadonlyMap<MediaSource, SourceFacts>;

/** What is known about the sources of a stream. */
export interface Looked {
  readonly facts: Facts;
  /** The MP4 that we can make without ffmpeg; null if we can't, or if the file can be passed on. */
  readonly laidOut: LaidOut | null;
  /** What a clip needs of its files; null if ffmpeg has to seek in them. */
  readonly window: LaidOutWindow | null;
  /** What earlier deliveries have shown. */
  readonly learnt: readonly Learnt[];
}

/** What the page's word promises. */
export interface Draft extends Tags {
  /** One source with everything, or video and audio, in this order. */
  readonly inputs: readonly MediaSource[];
  readonly formatIds: readonly string[];
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

export interface LookerOptions extends Omit<ProbeSourceOptions, 'maxMs'> {
  readonly parsers: Pick<ParserPool, 'forClient'>;
}

const probeMs = 15_000;

/** Finds out what sources are where a stream depends on it. */
export class Looker {
  readonly #options: LookerOptions;
  readonly #layouts: Layouts;
  readonly #probeSource: ProbeSource;
  readonly #lessons = new Lessons();

  constructor(options: LookerOptions) {
    this.#options = options;
    this.#layouts = new Layouts(options.heads, options.parsers);
    this.#probeSource = createProbeSource({ ...options, maxMs: probeMs });
  }

  /** What is known without looking. */
  know(page: Page, { formatIds }: Pick<Draft, 'formatIds'>): Looked {
    return { facts: new Map(), laidOut: null, window: null, learnt: this.#lessons.of(page, formatIds) };
  }

  /** @throws DomainError when a file can't be read; the signal's reason */
  async look(page: Page, draft: Draft, options: LookOptions): Promise<Looked> {
    const known = this.know(page, draft);
    const { inputs, siteFile, mayNeedOnlyHeader, window: wanted } = draft;
    // The site rejects early requests. A stream has waited by now.
    if (waitMs(inputs, Date.now()) > 0) return known;
    if (siteFile === null && !mayNeedOnlyHeader && wanted === null) return known;
    // Separate files have not been read yet, and the client may never download them.
    if (options.depth === 'one-file' && inputs.length > 1) return known;
    const facts = await Promise.all(
      inputs.map(async (source) => [source, await this.#factsOf(source, draft, options)] as const),
    );
    const hasIndex = !this.isOneShot(inputs) && known.learnt.every(({ kind }) => kind !== 'wrong_index');
    // A player's window shows whether there is a stream at all.
    const mayWindow =
      (options.depth === 'all' || wanted?.readers.includes('decoder') === false) &&
      known.learnt.every(({ kind }) => kind !== 'no_key_frame');
    const window =
      wanted !== null && hasIndex && mayWindow
        ? await this.#layouts.window(inputs, wanted, draft, options)
        : null;
    const isPassable = siteFile === 'mp4' && facts.every(([, { head }]) => head.original === 'mp4');
    const mayRemux = mayNeedOnlyHeader && !isPassable && hasIndex;
    const laidOut = mayRemux ? await this.#layouts.of(inputs, draft, options) : null;
    return { ...known, facts: new Map(facts), laidOut, window };
  }

  /** Keeps what a delivery has shown for the next request. */
  learn(page: Page, { formatIds }: Pick<Draft, 'formatIds'>, error: unknown): void {
    if (error instanceof UnexpectedMediaError) this.#lessons.learn(page, formatIds, error.learnt);
  }

  /** Whether a stream of these inputs must be made from a single response. */
  isOneShot([source, second]: readonly MediaSource[]): boolean {
    return source !== undefined && second === undefined && this.#options.heads.isOneShot(source);
  }

  async #factsOf(source: MediaSource, draft: Draft, options: LookOptions): Promise<SourceFacts> {
    const facts = factsFrom(await this.#options.heads.of(source, options));
    const { head, streams } = facts;
    const isAsPromised =
      draft.siteFile === null || (draft.siteFile === 'audio' && (head.audioFile ?? draft.container) !== null);
    const isEnough = streams !== null || isAsPromised || options.depth === 'one-file';
    return { head, streams: isEnough ? streams : await this.streamsOf(source, options) };
  }

  /** The streams of a file; null if ffprobe can't read them. @throws DomainError; the signal's reason */
  async streamsOf(
    source: MediaSource,
    { signal, renew, client }: Omit<LookOptions, 'depth'>,
  ): Promise<readonly ProbedStream[] | null> {
    try {
      return (await this.#probeSource(source, signal, client, renew)).streams;
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
