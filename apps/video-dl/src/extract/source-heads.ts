import type { MediaHead } from '../parsing/media-head.js';
import type { FilePiece } from '../parsing/partial-file.js';
import type { ParserPool } from '../parsing/parser-pool.js';
import type { MediaSource, RenewSource } from '../upstream/media-source.js';
import type { ObjectIdentity } from '../upstream/remote-object.js';
import type { Transfer } from '../upstream/transfer.js';
import { failureOf, type ObjectReader, type Upstream } from '../upstream/upstream.js';

/** The parsed header of a source's file, and the version of the file it came from. */
export interface SourceHead extends MediaHead {
  readonly identity: ObjectIdentity;
  /** Null if its server doesn't say. */
  readonly totalBytes: number | null;
}

export interface HeadOptions {
  readonly signal: AbortSignal;
  readonly renew?: RenewSource | undefined;
  /** The requesting client. Clients share the parsers fairly, and each has its own limit on DNS lookups. */
  readonly client: string;
}

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
  readonly #seen = new WeakMap<MediaSource, SourceHead>();

  constructor(upstream: Upstream, parsers: Pick<ParserPool, 'forClient'>) {
    this.#upstream = upstream;
    this.#parsers = parsers;
  }

  /** @throws DomainError when the file can't be read; the signal's reason */
  async of(source: MediaSource, { signal, renew, client }: HeadOptions): Promise<SourceHead> {
    const seen = this.#seen.get(source);
    if (seen !== undefined) return seen;
    const ended = new AbortController();
    try {
      const reader = this.#upstream.reader(this.#upstream.object(source, renew), {
        signal: AbortSignal.any([signal, ended.signal]),
        exit: source.origin?.exit,
        client,
      });
      const head = await this.#read(reader, this.#parsers.forClient(client), signal);
      this.#seen.set(source, head);
      return head;
    } finally {
      ended.abort(new Error('the header has been read'));
    }
  }

  /** Whether the header is cached. */
  has(source: MediaSource): boolean {
    return this.#seen.has(source);
  }

  /** Drops the cached header of a file that has changed. */
  forget(source: MediaSource): void {
    this.#seen.delete(source);
  }

  async #read(
    reader: ObjectReader,
    parse: ReturnType<ParserPool['forClient']>,
    signal: AbortSignal,
  ): Promise<SourceHead> {
    const start = await reader.open({ start: 0, end: windowBytes - 1 });
    let hasRanges = start.isPart;
    const pieces: FilePiece[] = [await readPiece(start, 0, windowBytes)];
    const { identity } = reader.object;
    for (let reads = 1; reads <= maxReads; reads += 1) {
      const totalBytes = identity.total;
      const step = await parse({ kind: 'head', pieces, totalBytes, hasRanges }, signal);
      if (step.kind === 'head') return { ...step, identity, totalBytes };
      const read = await Promise.all(
        step.parts.map(async ({ offset, bytes }) => {
          const length = Math.max(bytes, windowBytes);
          const part = await reader.open({ start: offset, end: offset + length - 1 });
          if (part.isPart || !hasRanges) return readPiece(part, offset, length);
          part.discard();
          return null;
        }),
      );
      const whole = read.flatMap((piece) => piece ?? []);
      pieces.push(...whole);
      // Some servers deliver only whole files, and only some formats need more than their beginning.
      if (whole.length < read.length) hasRanges = false;
    }
    return {
      probe: null,
      original: null,
      audioFile: null,
      audioLength: null,
      correctedLength: null,
      identity,
      totalBytes: identity.total,
    };
  }
}

async function readPiece(transfer: Transfer, offset: number, length: number): Promise<FilePiece> {
  const parts: Buffer[] = [];
  try {
    for await (const part of transfer.chunks()) parts.push(part);
  } catch (error) {
    throw failureOf(error);
  }
  const bytes = Buffer.concat(parts);
  return { offset, bytes, isEnd: bytes.length < length };
}
