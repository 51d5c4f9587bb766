import type { ServerResponse } from 'node:http';
import { FileStructure } from '../formats/file-structure.js';
import { DamagedMediaError } from '../formats/structure-check.js';
import { parseRange, type ByteRange } from '../upstream/byte-range.js';
import type { ObjectIdentity } from '../upstream/object-identity.js';
import { RemoteObject } from '../upstream/remote-object.js';
import type { RenewableSource } from '../upstream/renewable-source.js';
import { Transfer } from '../upstream/transfer.js';
import { faultFrom } from '../upstream/transfer-fault.js';
import type { TrackChanges } from '../formats/joiner.js';
import { damaged, damagedFile } from '../formats/rejection.js';
import { type Resource, writeAll } from './resource.js';

/** A demuxer returns to one place a few times. In some damaged files it does so for every byte that it examines. */
const maxReadsFromOnePlace = 100;

/** A single-file source. Supports ranges if its size is known. */
export class FileResource implements Resource {
  readonly #object: RemoteObject;
  /** Checks everything read from the file, by any reader. */
  readonly #structure = new FileStructure();
  /** How often a part was requested, keyed by its first byte. */
  readonly #reads = new Map<number, number>();
  /** The whole file, requested before a reader asked for it. */
  #ahead: { readonly transfer: Promise<Transfer>; readonly reader: AbortController } | null = null;

  /** Whether the file is proven complete, whatever duration it states. */
  get isWhole(): boolean {
    return this.#structure.isWhole;
  }

  get changes(): TrackChanges {
    return this.#structure.changes;
  }

  constructor(source: RenewableSource, identity?: ObjectIdentity) {
    this.#object = new RemoteObject(source, { identity });
  }

  /** Requests the file, for the first reader that wants it from its beginning. */
  readAhead(signal: AbortSignal): void {
    const reader = new AbortController();
    const transfer = this.#open({ start: 0, end: null }, AbortSignal.any([signal, reader.signal]));
    // Its reader gets the failure.
    transfer.catch(() => undefined);
    this.#ahead = { transfer, reader };
  }

  async serve(range: string | undefined, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const requested = parseRange(range);
    const start = requested?.start ?? 0;
    this.#countRead(start);
    const transfer = await (this.#takeAhead(requested, signal) ?? this.#open(requested, signal));
    const size = transfer.total;
    if (transfer.isPastEnd || (start > 0 && start >= (size ?? 0))) {
      transfer.discard();
      const known = size === null ? {} : { 'content-range': `bytes */${size}` };
      response.writeHead(416, { 'content-length': 0, ...known }).end();
      return;
    }
    const end = size === null ? null : Math.min(requested?.end ?? size - 1, size - 1);
    response.writeHead(requested && end !== null ? 206 : 200, {
      'content-type': transfer.contentType ?? 'application/octet-stream',
      ...(end !== null && { 'content-length': end - start + 1, 'accept-ranges': 'bytes' }),
      ...(requested && end !== null && { 'content-range': `bytes ${start}-${end}/${size}` }),
    });
    const isToEnd = end === null || end === (size ?? 0) - 1;
    await writeAll(response, this.#checked(transfer, start, isToEnd), signal);
  }

  /** Each read is a request to the site. */
  #countRead(start: number): void {
    const reads = (this.#reads.get(start) ?? 0) + 1;
    if (reads > maxReadsFromOnePlace) throw faultFrom(damagedFile('readers start over again and again'));
    this.#reads.set(start, reads);
  }

  #open(range: ByteRange | null, signal: AbortSignal): Promise<Transfer> {
    return Transfer.open(this.#object, range, signal);
  }

  /** @param signal ends the transfer from now on */
  #takeAhead(range: ByteRange | null, signal: AbortSignal): Promise<Transfer> | null {
    const ahead = this.#ahead;
    if (ahead === null || range?.start !== 0 || range.end !== null) return null;
    this.#ahead = null;
    const leave = () => ahead.reader.abort(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    return ahead.transfer;
  }

  /**
   * @param isToEnd whether the part that starts at `start` extends to the end of the file
   * @throws TransferFault before bytes that cannot belong to the file
   */
  async *#checked(transfer: Transfer, start: number, isToEnd: boolean): AsyncGenerator<Buffer, void, void> {
    const size = transfer.total;
    let offset = start;
    try {
      for await (const chunk of transfer.chunks()) {
        this.#structure.read(offset, chunk);
        if (size !== null) this.#structure.endsAt(size);
        yield chunk;
        offset += chunk.length;
      }
      if (isToEnd) this.#structure.endsAt(offset);
    } catch (error) {
      if (!(error instanceof DamagedMediaError)) throw error;
      // A file of known size arrived completely, so a retry would get the same bytes.
      throw faultFrom(size === null ? damaged(error.message) : damagedFile(error.message));
    }
  }
}
