import { DomainError } from '@media-services/http-common';
import type { ByteRange } from './byte-range.js';
import type { RemoteObject } from './remote-object.js';
import { Transfer } from './transfer.js';
import type { TransferContext } from './transfer-context.js';
import { TransferFault } from './transfer-fault.js';

/** A small object in memory. */
export interface SmallObject {
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  /** After redirects. */
  readonly url: string;
}

interface SmallFetch {
  /** Null is all. */
  readonly range: ByteRange | null;
  readonly maxBytes: number;
  readonly context: TransferContext;
  readonly signal: AbortSignal;
}

/**
 * Reads an object, or a part of it, into memory.
 * @throws TransferFault, also when it is larger than `maxBytes`; `signal.reason`
 */
export async function fetchSmall(
  object: RemoteObject,
  { range, maxBytes, context, signal }: SmallFetch,
): Promise<SmallObject> {
  const transfer = await Transfer.open({ object, range, context, signal });
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of transfer.chunks()) {
    length += chunk.length;
    if (length > maxBytes) {
      const detail = `The site sent more than the ${maxBytes} bytes that are read of such a file.`;
      throw new TransferFault(new DomainError('upstream_error', detail), 'none');
    }
    parts.push(chunk);
  }
  return { bytes: Buffer.concat(parts), contentType: transfer.contentType, url: transfer.url ?? '' };
}
