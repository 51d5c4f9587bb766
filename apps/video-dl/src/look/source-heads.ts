import { LRUCache } from 'lru-cache';
import { type MediaHead, noHead } from '../formats/media-head.js';
import type { FilePart, FilePiece } from '../formats/partial-file.js';
import type { ParserPool } from '../parser-process/parser-pool.js';
import type { MediaSource } from '../upstream/media-source.js';
import type { ObjectIdentity } from '../upstream/object-identity.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import { Transfer } from '../upstream/transfer.js';
import { ChangedFileError } from '../upstream/transfer-fault.js';
import { failureOf, type ReaderOptions, type Upstream } from '../upstream/upstream.js';

/** The parsed header of a source's file, and the version of the file it came from. */
export interface SourceHead extends MediaHead {
  readonly source: MediaSource;
  readonly identity: ObjectIdentity;
  /** Null if its server doesn't say, or if each response has another. */
  readonly totalBytes: number | null;
  /** Whether each response has other bytes, such as other advertisements, so that only one can be used. */
  readonly isOneShot: boolean;
}

/** The bytes that a header was read from. */
export interface ReadHead {
  readonly head: SourceHead;
  readonly pieces: readonly FilePiece[];
}

/** The bytes of headers that we keep, of all sources together. */
const maxKeptBytes = 32 * 1024 ** 2;
const maxKept = 1000;
/** How much of a file to read at once. */
const windowBytes = 128 * 1024;
/** An index may be anywhere in a file, but no file has more than a few. */
const maxReads = 24;

/**
 * Reads and caches the headers of files as long as their extraction lives, so that a stream
 * reuses the header that `/api/info` has read.
 */
export class SourceHeads {
  readonly #upstream: Upstream;
  readonly #parsers: Pick<ParserPool, 'forClient'>;
  readonly #oneShots = new WeakSet<MediaSource>();
  readonly #seen = new WeakMap<MediaSource, SourceHead>();
  readonly #pieces = new LRUCache<MediaSource, readonly FilePiece[]>({
    max: maxKept,
    maxSize: maxKeptBytes,
    sizeCalculation: (pieces) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 1),
  });

  constructor(upstream: Upstream, parsers: Pick<ParserPool, 'forClient'>) {
    this.#upstream = upstream;
    this.#parsers = parsers;
  }

  /** @throws DomainError when the file can't be read; the signal's reason */
  async of(source: MediaSource, options: ReaderOptions): Promise<SourceHead> {
    return this.#seen.get(source) ?? (await this.#readNew(source, options)).head;
  }

  /** The header with its bytes, which are only kept for a while. @throws as `of` */
  async withBytes(source: MediaSource, options: ReaderOptions): Promise<ReadHead> {
    const head = this.#seen.get(source);
    const pieces = this.#pieces.get(source);
    return head !== undefined && pieces !== undefined ? { head, pieces } : this.#readNew(source, options);
  }

  async #readNew(source: MediaSource, options: ReaderOptions): Promise<ReadHead> {
    const ended = new AbortController();
    const signal = AbortSignal.any([options.signal, ended.signal]);
    try {
      const read = await this.#read(source, { ...options, signal });
      if (read.head.isOneShot) this.#oneShots.add(source);
      this.#seen.set(source, read.head);
      this.#pieces.set(source, read.pieces);
      return read;
    } catch (error) {
      throw failureOf(error);
    } finally {
      ended.abort(new Error('the header has been read'));
    }
  }

  /** Remembers that sources send other bytes with each response. */
  markOneShot(sources: readonly MediaSource[]): void {
    for (const source of sources) this.#oneShots.add(source);
    this.forget(sources);
  }

  isOneShot(source: MediaSource): boolean {
    return this.#oneShots.has(source);
  }

  /** Whether a header is cached from an earlier request. */
  remembers(sources: readonly MediaSource[]): boolean {
    return sources.some((source) => this.#seen.has(source));
  }

  /** Drops the cached headers of files that have changed. */
  forget(sources: readonly MediaSource[]): void {
    for (const source of sources) {
      this.#seen.delete(source);
      this.#pieces.delete(source);
    }
  }

  async #read(source: MediaSource, options: ReaderOptions): Promise<ReadHead> {
    const { signal, client } = options;
    const object = this.#upstream.object(source, options);
    const parse = this.#parsers.forClient(client);
    const start = await Transfer.open(object, { start: 0, end: windowBytes - 1 }, signal);
    const pieces: FilePiece[] = [await readPiece(start, 0, windowBytes)];
    const { identity } = object;
    let [hasRanges, isOneShot] = [start.isPart, false];
    let found: MediaHead | null = null;
    for (let reads = 1; reads <= maxReads; reads += 1) {
      const totalBytes = isOneShot ? null : identity.total;
      const step = await parse({ kind: 'head', pieces, totalBytes, hasRanges }, signal);
      if (step.kind === 'head') found = step;
      if (step.kind === 'head' || isOneShot) break;
      const read = await Promise.all(
        step.parts.map(async (part) => readPart(object, part, hasRanges, signal)),
      );
      if (read.includes('another file')) isOneShot = true;
      const whole = read.flatMap((piece) => (typeof piece === 'string' ? [] : piece));
      pieces.push(...whole);
      // Some servers deliver only whole files, and only some formats need more than their beginning.
      if (whole.length < read.length) hasRanges = false;
    }
    const totalBytes = isOneShot ? null : identity.total;
    return { head: { ...(found ?? noHead), source, identity, totalBytes, isOneShot }, pieces };
  }
}

/** Some servers ignore ranges, and some send another version of a file with each response. */
async function readPart(
  object: RemoteObject,
  { offset, bytes }: FilePart,
  hasRanges: boolean,
  signal: AbortSignal,
): Promise<FilePiece | 'the whole file' | 'another file'> {
  const length = Math.max(bytes, windowBytes);
  try {
    const part = await Transfer.open(object, { start: offset, end: offset + length - 1 }, signal);
    if (part.isPart || !hasRanges) return await readPiece(part, offset, length);
    part.discard();
    return 'the whole file';
  } catch (error) {
    if (failureOf(error) instanceof ChangedFileError) return 'another file';
    throw error;
  }
}

async function readPiece(transfer: Transfer, offset: number, length: number): Promise<FilePiece> {
  const bytes = await transfer.bytes(length);
  return { offset, bytes, isEnd: bytes.length < length };
}
