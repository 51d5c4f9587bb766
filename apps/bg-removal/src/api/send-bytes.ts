import { once } from 'node:events';
import type { Response } from 'express';

/** What is handed to the connection at a time: how finely the client's pace is seen. */
const chunkBytes = 64 * 1024;

/**
 * Sends a whole body at the pace at which the client takes it.
 * @param onTaken told the bytes that the system has taken so far
 * @throws the signal's reason; the answer is then cut
 */
export async function sendBytes(
  res: Response,
  bytes: Uint8Array,
  signal: AbortSignal,
  onTaken: (bytes: number) => void,
): Promise<void> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  aborted.catch(() => undefined);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    // The callback and not `drain`: it comes when the chunk has left this process.
    await Promise.race([new Promise<void>((resolve) => res.write(chunk, () => resolve())), aborted]);
    onTaken(at + chunk.length);
  }
  const finished = once(res, 'finish');
  res.end();
  await Promise.race([finished, aborted]);
}
