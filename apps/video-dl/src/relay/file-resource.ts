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
    await writeAll(response, this.#checked(transfer.chunks(), start), signal);
  }

  /** @throws TransferFault before bytes that cannot belong to the file */
  async *#checked(chunks: AsyncIterable<Buffer>, start: number): AsyncGenerator<Buffer, void, void> {
    let offset = start;
    for await (const chunk of chunks) {
      try {
        this.#structure.read(offset, chunk);
      } catch (error) {
        if (error instanceof DamagedMediaError) throw damaged(error.message);
        throw error;
      }
      offset += chunk.length;
      yield chunk;
    }
  }

  /** ffmpeg reads of a file what it needs and seeks over the rest; what upstream failed to bring is a failure, not a gap. */
  isComplete(): boolean {
    return true;
  }
}
