import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import { resetConnection } from '@media-services/http-common';
import type { Parse } from '../parser-process/parser-pool.js';
import type { TransferContext } from '../upstream/media-source.js';

/** Shared by all resources of a session. */
export interface RelayContext extends TransferContext {
  /** Parses input that arrives whole, on behalf of the session's client. */
  readonly parse: Parse;
}

/** A request from ffmpeg for a source. */
export interface ResourceRequest {
  readonly method: 'GET' | 'HEAD';
  readonly range: string | undefined;
  readonly response: ServerResponse;
  /** Aborts when ffmpeg closes the connection or the session ends. */
  readonly signal: AbortSignal;
}

/** One source, which ffmpeg sees as a file. */
export interface Resource {
  /** @throws TransferFault when upstream failed beyond recovery; `signal.reason` */
  serve(request: ResourceRequest): Promise<void>;
  /** Whether every part that the source lists has been delivered. */
  isComplete(): boolean;
}

/**
 * Writes chunks with backpressure and ends the response.
 * @throws what `chunks` throws; `signal.reason` when the reader has left
 */
export async function writeAll(
  response: ServerResponse,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    if (!response.write(chunk)) await once(response, 'drain', { signal });
  }
  response.end();
}

/** Aborts a response so that no reader can mistake it for complete. */
export function abortResponse(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(502, { connection: 'close', 'content-length': 0 }).end();
  else resetConnection(response);
}
