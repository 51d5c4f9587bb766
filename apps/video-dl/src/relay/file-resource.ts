import { FileStructure } from '../containers/structure/file-structure.js';
import { DamagedMediaError } from '../containers/structure/structure-check.js';
import { parseRange } from '../upstream/byte-range.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import { fileObject, type RenewableSource } from '../upstream/renewable-source.js';
import { Transfer } from '../upstream/transfer.js';
import type { TransferContext } from '../upstream/transfer-context.js';
import { damaged } from './join/joiner.js';
import type { Resource, ResourceRequest } from './resource.js';
import { writeAll } from './respond.js';

/** Where in the file something is read from; `size` is null where its server doesn't state it. */
interface Place {
  readonly start: number;
  readonly size: number | null;
  /** Whether it is read up to the end of the file. */
  readonly isToEnd: boolean;
}

/** A medium in one file, with ranges where its size is known. */
export class FileResource implements Resource {
  readonly #object: RemoteObject;
  readonly #context: TransferContext;
  /** Of all that is read of it, by whomever. */
  readonly #structure = new FileStructure();

  constructor(source: RenewableSource, context: TransferContext) {
    this.#object = fileObject(source);
    this.#context = context;
  }

  async serve({ method, range, response, signal }: ResourceRequest): Promise<void> {
    const asked = parseRange(range);
    const transfer = await Transfer.open({
      ...{ object: this.#object, range: asked },
      ...{ context: this.#context, signal },
    });
    const size = transfer.total;
    const isBehind = asked !== null && asked.start > 0 && (size === null || asked.start >= size);
    if (transfer.isBehindEnd || isBehind) {
      transfer.discard();
      const known = size === null ? {} : { 'content-range': `bytes */${size}` };
      response.writeHead(416, { 'content-length': 0, ...known }).end();
      return;
    }
    const start = asked?.start ?? 0;
    const end = size === null ? null : Math.min(asked?.end ?? size - 1, size - 1);
    response.writeHead(asked && end !== null ? 206 : 200, {
      'content-type': transfer.contentType ?? 'application/octet-stream',
      ...(end !== null && { 'content-length': end - start + 1, 'accept-ranges': 'bytes' }),
      ...(asked && end !== null && { 'content-range': `bytes ${start}-${end}/${size}` }),
    });
    if (method === 'HEAD') {
      transfer.discard();
      response.end();
      return;
    }
    const isToEnd = end === null || end === (size ?? 0) - 1;
    await writeAll(response, this.#checked(transfer.chunks(), { start, size, isToEnd }), signal);
  }

  /** @throws TransferFault before bytes that cannot belong to the file */
  async *#checked(
    chunks: AsyncIterable<Buffer>,
    { start, size, isToEnd }: Place,
  ): AsyncGenerator<Buffer, void, void> {
    let offset = start;
    try {
      for await (const chunk of chunks) {
        this.#structure.read(offset, chunk);
        if (size !== null) this.#structure.endsAt(size);
        offset += chunk.length;
        yield chunk;
      }
      if (isToEnd) this.#structure.endsAt(offset);
    } catch (error) {
      if (error instanceof DamagedMediaError) throw damaged(error.message);
      throw error;
    }
  }

  /** ffmpeg reads of a file what it needs and seeks over the rest; what upstream failed to bring is a failure, not a gap. */
  isComplete(): boolean {
    return true;
  }
}
