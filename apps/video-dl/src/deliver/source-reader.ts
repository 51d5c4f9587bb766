import type { ByteRange } from '../upstream/byte-range.js';
import type { Transfer } from '../upstream/transfer.js';
import type { Upstream } from '../upstream/upstream.js';
import type { StreamJob } from './job.js';
import type { RemuxSource } from './remuxed-file.js';
import { changed } from './pass-on.js';

/** Reads parts of one of the site's files, in its order. */
export class SourceReader {
  readonly #source: RemuxSource;
  /** What is still to be read after the current range. */
  #ranges: readonly ByteRange[] = [];
  #openRange: ((range: ByteRange) => Promise<Transfer>) | undefined;
  #transfer: Transfer | undefined;
  #chunks: AsyncGenerator<Buffer, void, void> | undefined;
  #rest: Buffer = Buffer.alloc(0);
  /** In the file, of the first byte of `#rest`. */
  #position = 0;
  #isClosed = false;

  constructor(source: RemuxSource) {
    this.#source = source;
  }

  /**
   * Resolves when the first byte has arrived.
   * @param ranges all that will be read, in the file's order
   * @throws TransferFault, DomainError when the file has changed; the signal's reason
   */
  async open(
    ranges: readonly ByteRange[],
    { signal, request }: Pick<StreamJob, 'signal' | 'request'>,
    upstream: Upstream,
  ): Promise<void> {
    const { object, exit } = this.#source;
    const reader = upstream.reader(object, { signal, exit, client: request.client });
    this.#openRange = async (range) => reader.open(range);
    this.#ranges = ranges;
    this.#rest = await this.#next();
  }

  /** The next bytes from `offset` on, at least one and at most `maxBytes`. @throws as `open` */
  async read(offset: number, maxBytes: number): Promise<Buffer> {
    while (this.#position + this.#rest.length <= offset) {
      this.#position += this.#rest.length;
      // Sets the position if it begins the next range.
      this.#rest = await this.#next();
    }
    const from = offset - this.#position;
    const bytes = this.#rest.subarray(from, from + maxBytes);
    this.#position += from + bytes.length;
    this.#rest = this.#rest.subarray(from + bytes.length);
    return bytes;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#transfer?.discard();
    await this.#chunks?.return();
  }

  async #next(): Promise<Buffer> {
    const next = await this.#chunks?.next();
    if (next?.done === false) return next.value;
    const [range, ...others] = this.#ranges;
    if (range === undefined || this.#openRange === undefined) throw changed();
    this.#ranges = others;
    this.#transfer = await this.#openRange(range);
    // Another source has failed meanwhile.
    if (this.#isClosed) {
      this.#transfer.discard();
      throw changed();
    }
    if (this.#transfer.total !== this.#source.totalBytes) throw changed();
    this.#chunks = this.#transfer.chunks();
    this.#position = range.start;
    return this.#next();
  }
}
