import { parseRange, type ByteRange } from '../upstream/byte-range.js';
import type { RemoteObject } from '../upstream/remote-object.js';
import type { ResourceRequest } from './resource.js';
import { writeAll } from './respond.js';
import { Transfer } from '../upstream/transfer.js';
import type { TransferContext } from '../upstream/transfer-context.js';

/** A part of an object that is served as if it were the whole. */
export type Window = { readonly start: number; readonly end: number };

/**
 * Serves an object, or a window of it, with ranges where its size is known.
 * @returns whether the reader got it up to its end
 * @throws TransferFault, `signal.reason`
 */
export async function serveObject(
  object: RemoteObject,
  request: ResourceRequest,
  context: TransferContext,
  window: Window | null = null,
): Promise<boolean> {
  const { response, signal, method } = request;
  const asked = parseRange(request.range);
  const range = absolute(asked, window);
  const transfer = await Transfer.open({ object, range, context, signal });
  const size = window
    ? Math.min(window.end, (transfer.total ?? Infinity) - 1) - window.start + 1
    : transfer.total;
  if (
    transfer.isBehindEnd ||
    (asked !== null && size !== null && asked.start >= size) ||
    (asked && size === null && asked.start > 0)
  ) {
    transfer.discard();
    response
      .writeHead(416, { 'content-length': 0, ...(size !== null && { 'content-range': `bytes */${size}` }) })
      .end();
    return false;
  }
  const start = asked?.start ?? 0;
  const end = size === null ? null : Math.min(asked?.end ?? size - 1, size - 1);
  response.writeHead(asked && end !== null ? 206 : 200, {
    'content-type': transfer.contentType ?? 'application/octet-stream',
    ...(end !== null && { 'content-length': end - start + 1, 'accept-ranges': 'bytes' }),
    ...(asked && end !== null && { 'content-range': `bytes ${start}-${end}/${size}` }),
  });
  if (method === 'HEAD') {
    transfer.discard();
    response.end();
    return false;
  }
  await writeAll(response, transfer.chunks(), signal);
  return size === null || end === size - 1;
}

function absolute(asked: ByteRange | null, window: Window | null): ByteRange | null {
  if (!window) return asked;
  const start = window.start + (asked?.start ?? 0);
  return { start, end: Math.min(window.end, window.start + (asked?.end ?? Infinity)) };
}
