import type { ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { resetConnection } from '@media-services/http-common';

/** How far ffmpeg looks for tracks before its first output. */
export interface Analysis {
  readonly bytes: number;
  readonly seconds: number;
}

/** What the beginning of a joined stream shows. Times are in seconds on the source's clock. */
export interface Beginning {
  /** The first presentation time; null if it has none. */
  readonly startSeconds: number | null;
  /** Start of the input in the source; null if it is the whole source, or only a reader can tell. */
  readonly offsetSeconds: number | null;
  /** For a clip: where its video begins; null if it can't be decoded from there. */
  readonly keyFrameSeconds: number | null;
  /** Whether it is an MPEG transport stream whose video begins with a key frame. */
  readonly hasTransportKeyFrame: boolean;
  /** Seconds of audio before time zero, which players skip. */
  readonly hiddenSeconds: number;
  /** How far ffmpeg has to look for tracks; undefined for as far as usual. */
  readonly analysis: Analysis | undefined;
  /** The same for ffprobe, which needs no times and counts a frame rate in half a second. */
  readonly probing: Analysis | undefined;
  /** Total duration stated by the playlist, in seconds; null if it states none. */
  readonly statedSeconds: number | null;
}

/** A request from ffmpeg for a source. */
export interface ResourceRequest {
  readonly range: string | undefined;
  readonly response: ServerResponse;
  /** Aborts when ffmpeg closes the connection or the session ends. */
  readonly signal: AbortSignal;
}

/** One source, which ffmpeg sees as a file. */
export interface Resource {
  /** @throws TransferFault when upstream failed beyond recovery; `signal.reason` */
  serve(request: ResourceRequest): Promise<void>;
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
