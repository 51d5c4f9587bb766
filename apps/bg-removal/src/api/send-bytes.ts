import { once } from 'node:events';
import { fileName } from '@media-services/http-common';
import type { Response } from 'express';

/** Bytes written at a time. Determines how precisely we see the client's speed. */
const chunkBytes = 64 * 1024;

/**
 * Sends a whole body at the client's speed.
 * @param onTaken receives the number of bytes that the operating system has accepted so far
 * @throws the signal's reason; the response is then truncated
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
    // Use the callback instead of `drain`, because it runs when the chunk has left this process.
    await Promise.race([new Promise<void>((resolve) => res.write(chunk, () => resolve())), aborted]);
    onTaken(at + chunk.length);
  }
  const finished = once(res, 'finish');
  res.end();
  await Promise.race([finished, aborted]);
}

/** The upload's name with the result's extension, without folders. */
export function outputFileName(uploadName: string, extension: string): string {
  const base = uploadName.split(/[\\/]/).at(-1) ?? '';
  const stem = base.replace(/\.[^.]*$/, '');
  return fileName(/^[\s.]*$/.test(stem) ? 'image' : stem, extension);
}
