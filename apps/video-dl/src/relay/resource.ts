import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { resetConnection } from '@media-services/http-common';

/** One source, which ffmpeg sees as a file. */
export interface Resource {
  /**
   * Responds to a request from ffmpeg.
   * @param range the header
   * @param signal aborts when ffmpeg closes the connection or the session ends
   * @throws TransferFault when upstream failed beyond recovery; `signal.reason`
   */
  serve(range: string | undefined, response: ServerResponse, signal: AbortSignal): Promise<void>;
  /** Whether every part that the source lists has been delivered. Absent if ffmpeg reads only the parts that it needs. */
  isComplete?(): boolean;
}

/** We wait for the reader only above this: ffmpeg never reads the last bytes of some clips, and they must not hold up the rest. */
const maxWaitingBytes = 256 * 1024;

/**
 * Writes chunks with backpressure and ends the target.
 * @throws what `chunks` throws; `signal.reason` when the reader has left
 */
export async function writeAll(
  target: Writable,
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    // Combines all chunks of one event loop turn into one write.
    target.cork();
    setImmediate(() => target.uncork());
    if (!target.write(chunk) && target.writableLength >= maxWaitingBytes)
      await once(target, 'drain', { signal });
  }
  target.end();
}

/** Aborts a response so that no reader can mistake it for complete. */
export function abortResponse(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(502, { connection: 'close', 'content-length': 0 }).end();
  else resetConnection(response);
}
