import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { isFileError, WeightsError } from '../recipe.js';

/** A download fails after this time without data. The next attempt resumes it. */
const idleTimeoutMs = 60_000;
const progressStepBytes = 32 * 1024 * 1024;

export interface DownloadOptions {
  readonly log: (line: string) => void;
}

export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  readonly value: string;
}

/**
 * Downloads `url` to `file` and verifies it. Resumes an earlier attempt. Deletes a file with a
 * wrong checksum, so that the next attempt starts over.
 * @throws WeightsError if the server can't be reached or the checksum differs; errors of the file system
 */
export async function download(
  url: string,
  file: string,
  checksum: Checksum,
  options: DownloadOptions,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await fetchRest(url, file, options);
  } catch (cause) {
    if (cause instanceof WeightsError || isFileError(cause)) throw cause;
    throw new WeightsError(
      `The download of ${url} is incomplete. Check that the URL is reachable and run the set-up again; it resumes the download. Without internet access, copy the model's folder from another machine (see docs/models.md).`,
      { cause },
    );
  }
  const hash = createHash(checksum.algorithm);
  await pipeline(createReadStream(file), hash);
  const actual = hash.digest(checksum.encoding);
  if (actual === checksum.value) return;
  await rm(file);
  throw new WeightsError(
    `${url} has the ${checksum.algorithm} ${actual}, but should have ${checksum.value}. The file was deleted; run the set-up again.`,
  );
}

async function fetchRest(url: string, file: string, { log }: DownloadOptions): Promise<void> {
  const existingBytes = await sizeOf(file);
  const idle = new AbortController();
  const timer = setTimeout(
    () => idle.abort(new Error(`no data for ${idleTimeoutMs / 1000} s`)),
    idleTimeoutMs,
  );
  try {
    const response = await fetch(url, {
      headers: existingBytes > 0 ? { range: `bytes=${existingBytes}-` } : {},
      signal: idle.signal,
    });
    // 416: nothing is left to download. The checksum shows whether it is the right file.
    if (response.status === 416) return;
    if (!response.ok || response.body === null)
      throw new WeightsError(`${url} returned HTTP ${response.status}.`);
    const resumed = response.status === 206;
    const start = resumed ? existingBytes : 0;
    const total = start + Number(response.headers.get('content-length') ?? NaN);
    if (resumed) log(`Resuming at ${mebibytes(start)} of ${mebibytes(total)} …`);
    let received = start;
    let reportedBytes = start;
    let broken: { error: unknown } | undefined;
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    // Catch an interruption here, so that the received data is written before we rethrow the
    // error.
    const receivedChunks = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          timer.refresh();
          received += chunk.length;
          if (received - reportedBytes >= progressStepBytes) {
            reportedBytes = received;
            log(`${mebibytes(received)} of ${mebibytes(total)}`);
          }
          yield chunk;
        }
      } catch (error) {
        broken = { error };
      }
    };
    await pipeline(receivedChunks, createWriteStream(file, { flags: resumed ? 'a' : 'w' }));
    if (broken) throw broken.error;
  } finally {
    clearTimeout(timer);
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

function mebibytes(bytes: number): string {
  return Number.isNaN(bytes) ? '?' : `${Math.round(bytes / 2 ** 20)} MiB`;
}
