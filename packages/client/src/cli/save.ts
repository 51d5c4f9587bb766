import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Media } from '../media.js';

/**
 * Writes a file that is there only when it is whole: under another name until then.
 * @throws MediaServicesError `stream_broken`, or the error of the file system
 */
export async function saveWhole(media: Media, file: string, signal: AbortSignal): Promise<void> {
  const partial = `${file}.part`;
  try {
    // The types of the web's streams and of Node's differ in their iterators only.
    const body = Readable.fromWeb(media.body as Parameters<typeof Readable.fromWeb>[0]);
    await pipeline(body, createWriteStream(partial), { signal });
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
