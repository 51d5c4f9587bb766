import { Transfer, type TransferInput } from './transfer.js';
import { finalFault, type TransferFault } from './transfer-fault.js';
import type { Rejection } from '../formats/rejection.js';

/** A small object, read into memory. */
export interface SmallObject {
  readonly bytes: Buffer;
  /** After redirects. */
  readonly url: string;
}

interface SmallFetch extends TransferInput {
  readonly maxBytes: number;
  /** Replaces the error for more bytes. */
  readonly excess?: Rejection;
}

/**
 * Reads an object or a part of it into memory.
 * @throws TransferFault, also when it exceeds `maxBytes`; `excess`; `signal.reason`
 */
export async function fetchSmall({ maxBytes, excess, ...input }: SmallFetch): Promise<SmallObject> {
  const transfer = await Transfer.open(input);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of transfer.chunks()) {
    length += chunk.length;
    if (length > maxBytes) throw excess ?? tooLong(maxBytes);
    parts.push(chunk);
  }
  return { bytes: Buffer.concat(parts), url: transfer.url ?? '' };
}

function tooLong(maxBytes: number): TransferFault {
  const detail = `The site sent a file that is far larger than expected (more than ${maxBytes} bytes). Try again later, or use another page or format.`;
  return finalFault('upstream_error', detail);
}
