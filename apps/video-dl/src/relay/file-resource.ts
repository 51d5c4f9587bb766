import type { LiveSource } from '../upstream/live-source.js';
import { RemoteObject } from '../upstream/remote-object.js';
import { notFound, type Resource, type ResourceRequest } from './resource.js';
import { serveObject } from './serve-object.js';
import { sourceAddress } from '../upstream/source-address.js';
import type { TransferContext } from '../upstream/transfer-context.js';

/** A medium in one file. */
export class FileResource implements Resource {
  readonly entryPath = 'media';
  readonly #object: RemoteObject;
  readonly #context: TransferContext;

  constructor(live: LiveSource, context: TransferContext) {
    this.#object = new RemoteObject(
      sourceAddress(live, ({ url }) => url),
      live.current.chunkBytes ?? null,
    );
    this.#context = context;
  }

  async serve(request: ResourceRequest): Promise<void> {
    if (request.path !== this.entryPath) {
      notFound(request.response);
      return;
    }
    await serveObject(this.#object, request, this.#context);
  }

  /** ffmpeg reads of a file what it needs and seeks over the rest; what upstream failed to bring is a failure, not a gap. */
  isComplete(): boolean {
    return true;
  }
}
