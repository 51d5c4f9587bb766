import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { resetConnection } from '@media-services/http-common';

/**
 * Writes chunks as fast as the reader takes them and ends the response.
 * @throws what `chunks` throws; `signal.reason` when the reader is gone
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

/** Breaks a response off so that no reader can take it for complete. */
export function breakOff(response: ServerResponse): void {
  if (!response.headersSent) response.writeHead(502, { connection: 'close', 'content-length': 0 }).end();
  else resetConnection(response);
}
