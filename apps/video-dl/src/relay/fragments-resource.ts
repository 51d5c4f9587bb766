import type { LiveSource } from '../upstream/live-source.js';
import type { MediaFragment } from '../upstream/media-source.js';
import { RemoteObject } from '../upstream/remote-object.js';
import { notFound, type Resource, type ResourceRequest } from './resource.js';
import { writeAll } from './respond.js';
import { sourceAddress } from '../upstream/source-address.js';
import { Transfer } from '../upstream/transfer.js';
import type { TransferContext } from '../upstream/transfer-context.js';
import { brokenPromise } from '../upstream/transfer-fault.js';

/** A medium in pieces, served as the one byte stream that they make. */
export class FragmentsResource implements Resource {
  readonly entryPath = 'media';
  readonly #live: LiveSource;
  readonly #context: TransferContext;
  readonly #fragments: readonly MediaFragment[];
  #isDelivered = false;

  constructor(live: LiveSource, context: TransferContext) {
    this.#live = live;
    this.#context = context;
    this.#fragments = live.current.fragments ?? [];
  }

  async serve({ path, method, range, response, signal }: ResourceRequest): Promise<void> {
    if (path !== this.entryPath) {
      notFound(response);
      return;
    }
    if (range !== undefined && !/^bytes=0-$/.test(range)) {
      response.writeHead(416, { 'content-length': 0 }).end();
      return;
    }
    if (this.#fragments.length === 0) throw brokenPromise('names no fragments');
    if (this.#fragments.length > this.#context.limits.maxSegments)
      throw brokenPromise('names too many fragments');
    const first = await this.#open(0, signal);
    response.writeHead(200, { 'content-type': first.contentType ?? 'application/octet-stream' });
    if (method === 'HEAD') {
      first.discard();
      response.end();
      return;
    }
    await writeAll(response, this.#chunks(first, signal), signal);
    this.#isDelivered = true;
  }

  isComplete(): boolean {
    return this.#isDelivered;
  }

  /** The next fragment is asked for while the present one is read: its round trip costs nothing. */
  async *#chunks(first: Transfer, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
    let current: Promise<Transfer> = Promise.resolve(first);
    for (let index = 0; index < this.#fragments.length; index++) {
      const transfer = await current;
      const isLast = index + 1 === this.#fragments.length;
      const next = isLast ? null : this.#open(index + 1, signal);
      // Its failure counts when its turn comes.
      next?.catch(() => undefined);
      let isRead = false;
      try {
        yield* transfer.chunks();
        isRead = true;
      } finally {
        if (!isRead) next?.then((unread) => unread.discard()).catch(() => undefined);
      }
      if (next) current = next;
    }
  }

  #open(index: number, signal: AbortSignal): Promise<Transfer> {
    const { byteRange } = this.#fragments[index] ?? {};
    const address = sourceAddress(this.#live, ({ fragments }) => {
      const fragment = fragments?.length === this.#fragments.length ? fragments[index] : undefined;
      if (!fragment) throw brokenPromise('changed the list of fragments');
      return fragment.url;
    });
    return Transfer.open({
      object: new RemoteObject(address),
      range: byteRange ?? null,
      context: this.#context,
      signal,
    });
  }
}
