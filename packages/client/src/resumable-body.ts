import { isAbort, MediaServicesError } from './errors.js';
import type { Media, Progress, ReceivedPart } from './media.js';

/** A response that contains a file, before its body is made resumable. */
export interface OpenedMedia {
  readonly media: Omit<Media, 'body'>;
  readonly stream: ReadableStream<Uint8Array>;
}

export interface ResumableBodyOptions {
  /** Requests the rest of a file. The response may start at byte 0 again if the file has changed. */
  readonly reopen: (part: ReceivedPart) => Promise<OpenedMedia>;
  /** How many times to resume a broken connection. */
  readonly retries: number;
  readonly onProgress: Progress | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * The whole body of a file. Resumes after a broken connection if the service supports ranges;
 * otherwise the body fails with `stream_broken`.
 */
export function resumableBody(
  opened: OpenedMedia,
  { reopen, retries, onProgress, signal }: ResumableBodyOptions,
): ReadableStream<Uint8Array> {
  const { etag, expectedBytes, startByte } = opened.media;
  let reader = opened.stream.getReader();
  let receivedBytes = startByte;
  let resumed = 0;
  let isCancelled = false;

  const resume = async (cause: unknown): Promise<void> => {
    if (isAbort(cause) || signal?.aborted === true) throw cause;
    if (etag === undefined || receivedBytes === startByte || resumed >= retries)
      throw broken(receivedBytes, cause);
    resumed += 1;
    const rest = await reopen({ bytes: receivedBytes, etag });
    reader = rest.stream.getReader();
    if (isCancelled || rest.media.startByte !== receivedBytes || rest.media.etag !== etag) {
      await reader.cancel();
      throw broken(receivedBytes, cause);
    }
  };

  const next = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      try {
        const { done, value } = await reader.read();
        return done ? undefined : value;
      } catch (error) {
        await resume(error);
      }
    }
  };

  return new ReadableStream({
    async pull(controller) {
      try {
        const chunk = await next();
        if (chunk === undefined) {
          controller.close();
          return;
        }
        receivedBytes += chunk.byteLength;
        onProgress?.(receivedBytes, expectedBytes);
        controller.enqueue(chunk);
      } catch (error) {
        controller.error(error);
        // Only `onProgress` fails while the server is still sending.
        await reader.cancel(error).catch(() => undefined);
      }
    },
    cancel: async (reason) => {
      isCancelled = true;
      // The connection may be broken already.
      await reader.cancel(reason).catch(() => undefined);
    },
  });
}

function broken(receivedBytes: number, cause: unknown): MediaServicesError {
  const message = `The connection broke after ${receivedBytes} bytes. The file is incomplete: try again.`;
  return new MediaServicesError('stream_broken', message, { status: 0, retryable: true, cause });
}
