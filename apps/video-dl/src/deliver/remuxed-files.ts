import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Layout } from '../formats/mp4/remux/layout.js';
import type { ReadHead, SourceHead, SourceHeads } from '../look/source-heads.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import { isSameCodec } from '../plan/codecs.js';
import type { Plan } from '../plan/plan.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { Upstream } from '../upstream/upstream.js';
import type { KnownFile } from './response.js';
import type { LookOptions } from '../look/look.js';
import { digest } from './site-file.js';

/** An MP4 that consists of a new header and parts of the site's files. */
export interface RemuxedFile extends KnownFile {
  readonly layout: Layout;
  /** The site's files, in the order of the plan's inputs. */
  readonly sources: readonly RemuxSource[];
}

export interface RemuxSource {
  readonly object: RemoteObject;
  readonly totalBytes: number;
  /** The outbound proxy for its URL. */
  readonly exit: number | undefined;
}

interface RememberedLayout {
  /** What it was made from. */
  readonly heads: readonly SourceHead[];
  /** Null if these files need ffmpeg. */
  readonly layout: Layout | null;
  readonly headerDigest: string;
}

/** The layouts that we keep, of all plans together. */
const maxKeptBytes = 32 * 1024 ** 2;
/** Sources that need ffmpeg have no layout, but are kept too. */
const maxKept = 1000;

/**
 * Finds plans whose MP4 needs no ffmpeg because only its header differs from the site's files: QuickTime,
 * or MP4 with video and audio in separate files. Its length is known, and it can be resumed.
 */
export class RemuxedFiles {
  readonly #upstream: Upstream;
  readonly #heads: SourceHeads;
  readonly #parsers: Pick<ParserPool, 'forClient'>;
  readonly #layouts = new LRUCache<MediaSource, RememberedLayout>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: ({ layout }) =>
      1 + (layout === null ? 0 : layout.header.length + 17 * layout.sources.length),
  });

  readonly #withWrongIndex = new WeakSet<MediaSource>();

  constructor(upstream: Upstream, heads: SourceHeads, parsers: Pick<ParserPool, 'forClient'>) {
    this.#upstream = upstream;
    this.#heads = heads;
    this.#parsers = parsers;
  }

  /**
   * @returns undefined if the plan needs ffmpeg
   * @throws DomainError when a file can't be read; the signal's reason
   */
  async find(plan: Plan, options: LookOptions): Promise<RemuxedFile | undefined> {
    if (!plan.mayNeedOnlyHeader) return undefined;
    if (plan.inputs.some((source) => this.#withWrongIndex.has(source))) return undefined;
    const { layout, heads, headerDigest } = await this.#layoutOf(plan, options);
    if (layout === null || !hasPlannedTracks(layout, plan)) return undefined;
    const sources = plan.inputs.flatMap((source, index) => {
      const { identity, totalBytes } = heads[index] ?? {};
      if (identity === undefined || totalBytes == null) return [];
      const object = this.#upstream.object(source, options.renew, identity);
      return [{ object, totalBytes, exit: source.origin?.exit }];
    });
    const mediaBytes = layout.lengths.reduce((sum, bytes) => sum + bytes, 0);
    const totalBytes = layout.header.length + mediaBytes;
    return { layout, sources, totalBytes, hasRanges: true, etag: etagOf(headerDigest, heads) };
  }

  /** Leaves a plan's files to ffmpeg from now on, because an index of them is wrong. */
  avoid({ inputs }: Plan): void {
    for (const source of inputs) this.#withWrongIndex.add(source);
  }

  /** Drops what is cached of files that have changed. */
  forget(inputs: readonly MediaSource[]): void {
    for (const source of inputs) this.#layouts.delete(source);
  }

  async #layoutOf(plan: Plan, options: LookOptions): Promise<RememberedLayout> {
    const { inputs } = plan;
    const [first] = inputs;
    if (first === undefined) throw new Error('a plan has an input');
    const seen = await Promise.all(inputs.map((source) => this.#heads.of(source, options)));
    const known = this.#layouts.get(first);
    if (known?.heads.every((head, index) => head === seen[index]) === true) return known;
    const read = await Promise.all(inputs.map((source) => this.#heads.withBytes(source, options)));
    const layout = await this.#layOut(plan, read, options);
    const headerDigest = layout === null ? '' : createHash('sha256').update(layout.header).digest('hex');
    const found = { heads: read.map(({ head }) => head), layout, headerDigest };
    this.#layouts.set(first, found);
    return found;
  }

  async #layOut(
    { title, uploader: artist, webpageUrl: comment, chapters }: Plan,
    read: readonly ReadHead[],
    { client, signal }: LookOptions,
  ): Promise<Layout | null> {
    const files = read.flatMap(({ head: { totalBytes, correctedLength }, pieces }) =>
      // Without a length, we can't tell whether a file is complete.
      totalBytes === null || correctedLength !== null ? [] : [{ pieces, totalBytes }],
    );
    if (files.length < read.length) return null;
    const job = { kind: 'remux', files, tags: { title, artist, comment, chapters } } as const;
    return this.#parsers.forClient(client)(job, signal);
  }
}

function hasPlannedTracks({ tracks }: Layout, { video, audio }: Plan): boolean {
  const codecOf = (type: 'video' | 'audio') => tracks.find((track) => track.type === type)?.codec;
  return isSameCodec(codecOf('video'), video?.codec) && isSameCodec(codecOf('audio'), audio?.codec);
}

/** Changes with the header, which has the page's title. */
function etagOf(headerDigest: string, heads: readonly SourceHead[]): string | null {
  const tags = heads.flatMap(({ identity }) => identity.strongEtag ?? []);
  if (tags.length < heads.length) return null;
  return `"${digest(headerDigest, ...tags)}"`;
}
