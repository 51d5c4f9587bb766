import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { type Resource, writeAll } from './resource.js';

/** Bytes that can be read once, from the first to the last. */
export interface OpenedBytes {
  /** Null if unknown. */
  readonly total: number | null;
  chunks(): AsyncIterable<Buffer>;
}

/** What was requested before ffmpeg asks for it. ffmpeg can't seek in it. */
export class OpenedResource implements Resource {
  readonly #bytes: OpenedBytes;
  #isTaken = false;
  #isDelivered = false;

  constructor(bytes: OpenedBytes) {
    this.#bytes = bytes;
  }

  async serve(range: string | undefined, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const isFromStart = range === undefined || range === 'bytes=0-';
    if (!isFromStart || this.#isTaken) {
      response.writeHead(416, { 'content-length': 0 }).end();
      return;
    }
    const { total } = this.#bytes;
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      ...(total !== null && { 'content-length': total }),
    });
    await this.feed(response, signal);
  }

  /** Writes everything into a response or a child's input. @throws as `serve` */
  async feed(target: Writable, signal: AbortSignal): Promise<void> {
    this.#isTaken = true;
    await writeAll(target, this.#bytes.chunks(), signal);
    this.#isDelivered = true;
  }

  isComplete(): boolean {
    return this.#isDelivered;
  }
}
