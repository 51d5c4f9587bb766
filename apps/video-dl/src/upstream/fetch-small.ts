import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DomainError, errorCode } from '@media-services/http-common';
import type { ByteRange } from './byte-range.js';
import type { RemoteObject } from './remote-object.js';
import { Transfer } from './transfer.js';
import type { TransferContext } from './media-source.js';
import { protocolFault, TransferFault } from './transfer-fault.js';

/** A small object, read into memory. */
export interface SmallObject {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  /** After redirects. */
  readonly url: string;
}

interface SmallFetch {
  /** Null means the whole object. */
  readonly range: ByteRange | null;
  readonly maxBytes: number;
  readonly context: TransferContext;
  readonly signal: AbortSignal;
}

/**
 * Reads an object or a part of it into memory.
 * @throws TransferFault, including when it exceeds `maxBytes`; `signal.reason`
 */
export async function fetchSmall(
  object: RemoteObject,
  { range, maxBytes, context, signal }: SmallFetch,
): Promise<SmallObject> {
  // Lengths and ranges count uncompressed bytes, so a partial response can't be compressed.
  const transfer = await Transfer.open({
    object,
    range,
    signal,
    context: { ...context, mayBeCompressed: range === null },
  });
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of transfer.chunks()) {
    length += chunk.length;
    if (length > maxBytes + (transfer.isCompressed ? gzipOverheadBytes : 0)) throw tooLong(maxBytes);
    parts.push(chunk);
  }
  const received = Buffer.concat(parts);
  const bytes = transfer.isCompressed ? await decompress(received, maxBytes) : received;
  return { bytes, contentType: transfer.contentType, url: transfer.url ?? '' };
}

/** Gzip makes very small files larger. */
const gzipOverheadBytes = 1024;
const gunzipAsync = promisify(gunzip);

async function decompress(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLong(maxBytes);
    throw protocolFault('sent damaged gzip', error);
  }
}

function tooLong(maxBytes: number): TransferFault {
  const detail = `The site sent a file of more than ${maxBytes} bytes where a small one was expected. Try another page or format.`;
  return new TransferFault(new DomainError('upstream_error', detail), 'none');
}
