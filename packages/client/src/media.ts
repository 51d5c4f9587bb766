import { isAbort, MediaServicesError } from './errors.js';
import { fileNameOf } from './file-name.js';

/** A file that is being received. */
export interface Media {
  /** Name that the service suggests, safe to use in any folder. */
  readonly fileName: string;
  readonly contentType: string;
  /** Bytes, where the service knows them: exactly for images, an estimate for streams. */
  readonly expectedBytes: number | undefined;
  readonly durationSeconds: number | undefined;
  /** How many more requests the client has left, where the service limits them. */
  readonly rateLimit: RateLimit | undefined;
  /** Ends cleanly only when everything has arrived, and else fails with `stream_broken`. */
  readonly body: ReadableStream<Uint8Array>;
}

/** The `RateLimit` header (IETF draft 8). */
export interface RateLimit {
  readonly remaining: number;
  /** Until there is room for one more. */
  readonly resetSeconds: number;
}

export type Progress = (receivedBytes: number, expectedBytes: number | undefined) => void;

/** What an answer with a file in it is to the caller. */
export function mediaOf(
  response: Response,
  stream: ReadableStream<Uint8Array>,
  fallbackName: string,
  onProgress?: Progress,
): Media {
  const { headers } = response;
  const expectedBytes = numberOf(headers.get('Content-Length') ?? headers.get('Estimated-Content-Length'));
  return {
    fileName: fileNameOf(headers.get('Content-Disposition')) ?? fallbackName,
    contentType: headers.get('Content-Type') ?? 'application/octet-stream',
    expectedBytes,
    durationSeconds: numberOf(headers.get('X-Content-Duration')),
    rateLimit: parseRateLimit(headers.get('RateLimit')),
    body: guarded(stream, (bytes) => onProgress?.(bytes, expectedBytes)),
  };
}

/** `"images-per-minute"; r=4; t=60` */
function parseRateLimit(header: string | null): RateLimit | undefined {
  const remaining = numberOf(/;\s*r=(\d+)/.exec(header ?? '')?.[1] ?? null);
  const resetSeconds = numberOf(/;\s*t=(\d+)/.exec(header ?? '')?.[1] ?? null);
  return remaining === undefined || resetSeconds === undefined ? undefined : { remaining, resetSeconds };
}

/** Counts what passes, and tells a connection that broke off by its own code. */
function guarded(
  stream: ReadableStream<Uint8Array>,
  onBytes: (receivedBytes: number) => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let receivedBytes = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        receivedBytes += value.byteLength;
        onBytes(receivedBytes);
        controller.enqueue(value);
      } catch (error) {
        controller.error(brokenOff(error, receivedBytes));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function brokenOff(error: unknown, receivedBytes: number): unknown {
  if (isAbort(error)) return error;
  return new MediaServicesError(
    'stream_broken',
    `The stream broke off after ${receivedBytes} bytes: what was received is not complete.`,
    { status: 0, retryable: true, cause: error },
  );
}

function numberOf(text: string | null): number | undefined {
  const value = text === null || text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
