import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Layout } from '../formats/mp4/remux/layout.js';
import type { PartlyRead, WindowTracks } from '../formats/mp4/remux/remux.js';
import type { Chapter } from '../formats/chapters.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { HeadOptions, ReadHead, SourceHead, SourceHeads } from './source-heads.js';

/** What an MP4 consists of that is a new header and parts of the site's files. */
export interface LaidOut {
  readonly layout: Layout;
  /** Of the site's files. */
  readonly heads: readonly SourceHead[];
  readonly headerDigest: string;
}

/** What a clip needs of files. */
export interface LaidOutWindow extends LaidOut {
  readonly for: 'player' | 'decoder';
  /** Where it begins in the video. */
  readonly startSeconds: number;
}

/** A clip of MP4 files. */
export interface WantedWindow {
  readonly startSeconds: number;
  readonly endSeconds: number | null;
  readonly tracks: WindowTracks;
  /** Whether players may get its samples as they are, or decoders may read them. */
  readonly readers: readonly LaidOutWindow['for'][];
}

/** What the header says besides its media. */
export interface Tags {
  readonly title: string;
  readonly uploader: string | null;
  readonly webpageUrl: string;
  readonly chapters: readonly Chapter[];
}

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
  readonly #known = new LRUCache<MediaSource, Omit<LaidOut, 'layout'> & { readonly layout: Layout | null }>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ layout }) =>
      1 + (layout === null ? 0 : layout.header.length + 17 * layout.sources.length),
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
  async of(inputs: readonly MediaSource[], tags: Tags, options: HeadOptions): Promise<LaidOut | null> {
    const [first] = inputs;
    if (first === undefined) return null;
    const seen = await Promise.all(inputs.map((source) => this.#heads.of(source, options)));
    let found = this.#known.get(first);
    if (found?.heads.every((head, index) => head === seen[index]) !== true) {
      const read = await Promise.all(inputs.map((source) => this.#heads.withBytes(source, options)));
      const layout = await this.#layOut(read, tags, options);
      const headerDigest = layout === null ? '' : digestOf(layout);
      found = { heads: read.map(({ head }) => head), layout, headerDigest };
      this.#known.set(first, found);
    }
    const { layout } = found;
    return layout && { ...found, layout };
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
    options: HeadOptions,
  ): Promise<LaidOutWindow | null> {
    const read = await Promise.all(inputs.map((source) => this.#heads.withBytes(source, options)));
    const files = filesOf(read);
    if (files === null) return null;
    for (const reader of readers) {
      const times = { startSeconds, endSeconds, for: reader };
      const job = { kind: 'window', files, wanted, times, tags: tagsOf(tags) } as const;
      const found = await this.#parsers.forClient(options.client)(job, options.signal);
      if (found === null) continue;
      const headerDigest = digestOf(found.layout);
      return { ...found, for: reader, heads: read.map(({ head }) => head), headerDigest };
    }
    return null;
  }

  /** Drops what is cached of files that have changed. */
  forget(inputs: readonly MediaSource[]): void {
    for (const source of inputs) this.#known.delete(source);
  }

  async #layOut(
    read: readonly ReadHead[],
    tags: Tags,
    { client, signal }: HeadOptions,
  ): Promise<Layout | null> {
    const files = filesOf(read);
    if (files === null) return null;
    return this.#parsers.forClient(client)({ kind: 'remux', files, tags: tagsOf(tags) }, signal);
  }
}

/** Null if one states no length, because then we can't tell whether it is complete. */
function filesOf(read: readonly ReadHead[]): readonly PartlyRead[] | null {
  const files = read.flatMap(({ head: { totalBytes, correctedLength }, pieces }) =>
    totalBytes === null || correctedLength !== null ? [] : [{ pieces, totalBytes }],
  );
  return files.length < read.length ? null : files;
}

function tagsOf({ title, uploader: artist, webpageUrl: comment, chapters }: Tags) {
  return { title, artist, comment, chapters };
}

function digestOf({ header }: Layout): string {
  return createHash('sha256').update(header).digest('hex');
}
