import type { FilePiece, MediaHead } from '../parsing/media-head.js';
import type { ParserPool } from '../parsing/parser-pool.js';
import type { MediaSource, RenewSource } from '../upstream/media-source.js';
import type { ObjectIdentity } from '../upstream/remote-object.js';
import { failureOf, type ObjectReader, type Upstream } from '../upstream/upstream.js';

/** What the head of a source's file says, and which version of the file said it. */
export interface SourceHead extends MediaHead {
  readonly identity: ObjectIdentity;
  /** Null where its server doesn't tell. */
  readonly totalBytes: number | null;
}

export interface HeadOptions {
  readonly signal: AbortSignal;
  readonly renew?: RenewSource | undefined;
  /** Who asks: parsers are shared fairly, and name lookups limited, for each client. */
  readonly client: string;
}

/** What is read of a file at once. */
const windowBytes = 128 * 1024;
/** An index may lie anywhere, but no file has more than a few. */
const maxReads = 24;

/**
 * Reads the heads of files, each once while its extraction lives: what `/api/info` has
 * read, the stream that follows finds here.
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
      ended.abort(new Error('the head has been read'));
    }
  }

  /** Whether the head is answered from memory. */
  has(source: MediaSource): boolean {
    return this.#seen.has(source);
  }

  /** Forgets a file that turned out to be another one by now. */
  forget(source: MediaSource): void {
    this.#seen.delete(source);
  }

  async #read(
    reader: ObjectReader,
    parse: ReturnType<ParserPool['forClient']>,
    signal: AbortSignal,
  ): Promise<SourceHead> {
    const pieces: FilePiece[] = [await readPiece(reader, 0, windowBytes)];
    const { identity } = reader.object;
    for (let reads = 1; reads <= maxReads; reads += 1) {
      const totalBytes = identity.total;
      const step = await parse({ kind: 'head', pieces, totalBytes }, signal);
      if (step.kind === 'head') return { ...step, identity, totalBytes };
      pieces.push(await readPiece(reader, step.offset, Math.max(step.bytes, windowBytes)));
    }
    return {
      probe: null,
      original: null,
      audioFile: null,
      sound: null,
      identity,
      totalBytes: identity.total,
    };
  }
}

async function readPiece(reader: ObjectReader, offset: number, length: number): Promise<FilePiece> {
  const transfer = await reader.open({ start: offset, end: offset + length - 1 });
  const parts: Buffer[] = [];
  try {
    for await (const part of transfer.chunks()) parts.push(part);
  } catch (error) {
    throw failureOf(error);
  }
  const bytes = Buffer.concat(parts);
  return { offset, bytes, isEnd: bytes.length < length };
}
