import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** So slow that most of the film is in the buffers between server and client after two seconds. */
export const slowBytesPerSecond = 1_500_000;

export interface SlowDownload {
  readonly status: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Whether the response ended as it should; a response that broke off is not. */
  readonly isComplete: boolean;
  /** Between the last byte and the end of the connection. */
  readonly silentSeconds: number;
}

/**
 * Downloads from this machine at a limited speed.
 * @throws {Error} if nothing arrives for 60 s: then the connection's end was lost
 */
export async function downloadSlowly(url: string, bytesPerSecond: number): Promise<SlowDownload> {
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const request = get(url, { timeout: 60_000 });
  request.once('timeout', () => request.destroy(new Error(`${url}: silence for 60 s`)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let bytes = 0;
  let lastByteAt = seconds();
  try {
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      lastByteAt = seconds();
      await delay(Math.max(0, (bytes / bytesPerSecond - seconds()) * 1000));
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error;
  }
  return {
    status: response.statusCode ?? 0,
    bytes,
    seconds: seconds(),
    isComplete: response.complete,
    silentSeconds: seconds() - lastByteAt,
  };
}
