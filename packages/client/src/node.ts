import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isRecord } from './errors.js';
import type { Media, ReceivedPart } from './media.js';

/**
 * Saves a file, for Node. It appears under its name only once it is complete, and replaces an earlier one.
 * Until then it is `FILE.part`; if it can be resumed, the next call continues it.
 * @param request sends a request for the file, or for what is missing of it:
 *   `(resume) => client.video(url, 'mp4-1080', { resume, signal })`
 * @throws MediaServicesError, the file system's error, the reason of `request`'s signal
 */
export async function saveTo(
  file: string,
  request: (resume: ReceivedPart | undefined) => Promise<Media>,
): Promise<void> {
  const part = `${file}.part`;
  const note = `${part}.etag`;
  const media = await request(await receivedPart(part, note));
  const { body, etag } = media;
  try {
    if (etag === undefined) await rm(note, { force: true });
    else await writeFile(note, etag);
    await writeBody(part, media);
  } catch (error) {
    // Rejects if the body itself has failed.
    await body.cancel().catch(() => undefined);
    if (etag === undefined) await rm(part, { force: true });
    throw error;
  }
  await rename(part, file);
  await rm(note, { force: true });
}

async function writeBody(part: string, { body, startByte }: Media): Promise<void> {
  const output = await open(part, startByte > 0 ? 'r+' : 'w');
  try {
    let position = startByte;
    for await (const chunk of body) {
      for (let from = 0; from < chunk.length;) {
        const { bytesWritten } = await output.write(chunk, from, chunk.length - from, position);
        from += bytesWritten;
        position += bytesWritten;
      }
    }
  } finally {
    await output.close();
  }
}

async function receivedPart(part: string, note: string): Promise<ReceivedPart | undefined> {
  const [size, etag] = await Promise.all([
    stat(part).then(({ size }) => size, absent),
    readFile(note, 'utf8').catch(absent),
  ]);
  return size !== undefined && size > 0 && etag !== undefined ? { bytes: size, etag } : undefined;
}

function absent(error: unknown): undefined {
  if (isRecord(error) && error.code === 'ENOENT') return undefined;
  throw error;
}
