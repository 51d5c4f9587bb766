import { LRUCache } from 'lru-cache';
import type { Extraction } from '../extract/types.js';
import type { Layout } from '../formats/mp4/remux/layout.js';
import type { WindowTracks } from '../formats/mp4/remux/remux.js';
import type { WindowTimes } from '../formats/mp4/remux/window.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { ReaderOptions } from '../upstream/upstream.js';
import type { SourceHead, SourceHeads } from './source-heads.js';

/** An MP4 made of a new header and parts of the site's files. */
export interface LaidOut {
  readonly layout: Layout;
  /** Of the site's files. */
  readonly heads: readonly SourceHead[];
  /** A decoder may have to encode it. */
  readonly for: WindowTimes['for'];
  /** Where it begins in the video. */
  readonly startSeconds: number;
}

/** A clip of MP4 files. */
export interface WantedWindow extends Omit<WindowTimes, 'for'> {
  readonly tracks: WindowTracks;
  /** Whether players may get its samples as they are, or decoders may read them. */
  readonly readers: readonly WindowTimes['for'][];
}

/** What the header says besides its media. */
export type Tags = Pick<Extraction, 'title' | 'uploader' | 'webpageUrl' | 'chapters'>;

/** The layouts that we keep, of all plans together. */
const maxKeptBytes = 32 * 1024 ** 2;
/** Sources that need ffmpeg have no layout, but are kept too. */
const maxKept = 1000;

/**
 * Lays out MP4s that need no ffmpeg because only their header differs from the site's files: QuickTime,
 * or MP4 with video and audio in separate files. Their length is known, and they can be resumed.
 */
export class Layouts {
  readonly #heads: SourceHeads;
  readonly #parsers: Pick<ParserPool, 'forClient'>;
  /** By the header of their first file, which is another object once the file has changed. */
  readonly #known = new LRUCache<SourceHead, Pick<LaidOut, 'heads'> & { laidOut: LaidOut | null }>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ laidOut }) =>
      1 + (laidOut === null ? 0 : laidOut.layout.header.length + 17 * laidOut.layout.sources.length),
  });

  constructor(heads: SourceHeads, parsers: Pick<ParserPool, 'forClient'>) {
    this.#heads = heads;
    this.#parsers = parsers;
  }

  /**
   * @param inputs the files, video first
   * @returns null if they need ffmpeg
   * @throws DomainError when a file can't be read; the signal's reason
   */
  async of(inputs: readonly MediaSource[], tags: Tags, options: ReaderOptions): Promise<LaidOut | null> {
    const [first, second] = await Promise.all(inputs.map((source) => this.#heads.of(source, options)));
    if (first === undefined) return null;
    let found = this.#known.get(first);
    if (found === undefined || found.heads[1] !== second) {
      const { heads, files } = await this.#read(inputs, options);
      const parse = this.#parsers.forClient(options.client);
      const layout = files && (await parse({ kind: 'remux', files, tags: tagsOf(tags) }, options.signal));
      const laidOut = layout && ({ layout, heads, for: 'player', startSeconds: 0 } as const);
      found = { heads, laidOut };
      this.#known.set(heads[0] ?? first, found);
    }
    return found.laidOut;
  }

  /**
   * The samples that a clip needs.
   * @returns null if ffmpeg has to seek in the files
   * @throws as `of`
   */
  async window(
    inputs: readonly MediaSource[],
    { startSeconds, endSeconds, tracks: wanted, readers }: WantedWindow,
    tags: Tags,
    options: ReaderOptions,
  ): Promise<LaidOut | null> {
    const { heads, files } = await this.#read(inputs, options);
    if (files === null) return null;
    for (const reader of readers) {
      const times = { startSeconds, endSeconds, for: reader };
      const job = { kind: 'window', files, wanted, times, tags: tagsOf(tags) } as const;
      const found = await this.#parsers.forClient(options.client)(job, options.signal);
      if (found !== null) return { ...found, heads, for: reader };
    }
    return null;
  }

  /** The files are null if one states no length, because then we can't tell whether it is complete. */
  async #read(inputs: readonly MediaSource[], options: ReaderOptions) {
    const read = await Promise.all(inputs.map((source) => this.#heads.withBytes(source, options)));
    const files = read.flatMap(({ head: { totalBytes, correctedLength }, pieces }) =>
      totalBytes === null || correctedLength !== null ? [] : [{ pieces, totalBytes }],
    );
    return { heads: read.map(({ head }) => head), files: files.length < read.length ? null : files };
  }
}

function tagsOf({ title, uploader: artist, webpageUrl: comment, chapters }: Tags) {
  return { title, artist, comment, chapters };
}
