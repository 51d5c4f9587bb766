import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { errorCode } from '@media-services/http-common';
import { protocolFault } from './transfer-fault.js';
import type { UpstreamResponse } from './upstream-request.js';

/** By the name of the Content-Encoding. */
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The other codings in IANA's registry. */
const unreadableCoding = /^(?:aes128gcm|(?:x-)?compress|dcb|dcz|exi|pack200-gzip|zstd)$/;

/**
 * The encoding of a body; null if it is the file's own bytes. Any other label isn't an encoding: storage services
 * send what an upload stated, such as `utf-8` or `aws-chunked`, and browsers ignore it.
 * @param header `Content-Encoding`
 */
export function contentEncoding(header: string | undefined): string | null {
  const codings = (header ?? '').split(',').map((each) => each.trim().toLowerCase());
  const real = codings.filter((each) => decoders.has(each) || unreadableCoding.test(each));
  return real.length === 0 ? null : real.join(',');
}

/**
 * The same response with uncompressed bytes, in bounded steps. Some servers compress although we ask for the file's
 * own bytes.
 * @returns undefined for an encoding that we can't read
 */
export function decompressed(response: UpstreamResponse, encoding: string): UpstreamResponse | undefined {
  const decoder = decoders.get(encoding);
  if (decoder === undefined) return undefined;
  return { ...response, chunks: (idleTimeoutMs) => decode(response, decoder(), idleTimeoutMs) };
}

async function* decode(
  response: UpstreamResponse,
  decoder: Transform,
  idleTimeoutMs: number,
): AsyncGenerator<Buffer, void, void> {
  // A failure ends the decoder, whose reader gets it.
  pipeline(Readable.from(response.chunks(idleTimeoutMs)), decoder, () => undefined);
  try {
    yield* decoder as AsyncIterable<Buffer, void>;
  } catch (error) {
    throw isDamage(error) ? protocolFault('sent damaged compressed data', error) : error;
  } finally {
    response.destroy();
  }
}

/** Codes of zlib and of Brotli. */
function isDamage(error: unknown): boolean {
  return /^(?:Z_|ERR__ERROR_|ERR_BROTLI_)/.test(errorCode(error) ?? '');
}
