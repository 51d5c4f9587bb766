import {
  formatRange,
  isEmptyRange,
  parseContentLength,
  parseContentRange,
  parseUnsatisfiedTotal,
  type ByteRange,
} from './byte-range.js';
import { contentEncoding, decompressed } from './decompress.js';
import type { UpstreamLimits } from './media-source.js';
import type { ObjectIdentity } from './object-identity.js';
import type { RemoteObject } from './remote-object.js';
import {
  changedFault,
  faultFromStatus,
  finalFault,
  protocolFault,
  type TransferFault,
} from './transfer-fault.js';
import { requestUpstream, type UpstreamResponse } from './upstream-request.js';

/** A response that passed the checks: bytes of the right object at a known position. */
export interface UpstreamPart {
  readonly response: UpstreamResponse;
  /** Bytes to skip before the wanted ones, when the server ignored the range. */
  readonly skip: number;
  /** Last byte that this response will deliver; null if the server stated no length. */
  readonly end: number | null;
  /** Whether the body continues past `end`, when the server ignored the end of the range. */
  readonly hasSurplus: boolean;
}

/**
 * Requests bytes of an object and checks the response against the request and
 * against what is known about the object.
 * @param range null sends no Range header
 * @param wantedEnd last byte to read when the server ignores the range; null for all
 * @returns null if the wanted bytes start past the end of the object
 * @throws TransferFault, undici's errors, `signal.reason`
 */
export async function requestPart(
  object: RemoteObject,
  range: ByteRange | null,
  wantedEnd: number | null,
  signal: AbortSignal,
): Promise<UpstreamPart | null> {
  const { identity } = object;
  const ifRange = range && identity.strongEtag;
  const locator = await object.locate(signal);
  const { dispatcher, limits } = object.context;
  const request = (extraHeaders: Readonly<Record<string, string>>) =>
    requestUpstream({ locator, extraHeaders, dispatcher, limits, signal });
  let response = await request({
    ...(range && { range: formatRange(range) }),
    ...(ifRange && { 'if-range': ifRange }),
  });
  if (range !== null && !deliversRange(response, object, range)) {
    response.destroy();
    response = await request({});
  }
  try {
    const part = checkPart(response, object, range, wantedEnd);
    const hasNoSize = part !== null && response.status === 206 && identity.total === null;
    if (hasNoSize && range?.start === 0 && object.chunkBytes === null) {
      // The file can be read without its size.
      const whole = await request({}).catch(() => null);
      if (whole !== null) learnSize(identity, part, whole, limits);
    }
    return part;
  } catch (error) {
    response.destroy();
    throw error;
  }
}

/** Some servers state the size of a file only if they send all of it. @param whole isn't read */
function learnSize(
  identity: ObjectIdentity,
  { response, end }: UpstreamPart,
  whole: UpstreamResponse,
  { maxBytes }: UpstreamLimits,
): void {
  whole.destroy();
  const isFile = isWhole(whole) && whole.header('content-type') === response.header('content-type');
  const isPlain = contentEncoding(whole.header('content-encoding')) === null;
  const total = isFile && isPlain ? parseContentLength(whole.header('content-length')) : null;
  // A response that contradicts the part proves nothing.
  if (total === null || total <= (end ?? 0) || identity.mismatch(whole, total) !== null) return;
  if (total > maxBytes) throw tooLarge(maxBytes);
}

/** Whether the body is the whole file. A proxy that changes a header may send 203 instead of 200. */
function isWhole({ status }: UpstreamResponse): boolean {
  return status === 200 || status === 203;
}

/** How servers without ranges reject them, apart from 416. The file itself may be rejected too, which a request without a range shows. */
const rejections = new Set([400, 403, 405, 501]);

/** Whether a response is usable. Some servers reject every range, or send something else than the requested part. */
function deliversRange(
  response: UpstreamResponse,
  { identity, chunkBytes }: RemoteObject,
  { start }: ByteRange,
): boolean {
  const { status } = response;
  // A server that needs chunks accepts ranges, so from the first byte on its 403 rejects the file.
  const rejectsFile = status === 403 && start === 0 && chunkBytes !== null;
  if (rejections.has(status) && !rejectsFile) return false;
  if (status === 206) {
    // The part may be one of the compressed file, or one of several parts.
    const isPlain = contentEncoding(response.header('content-encoding')) === null;
    const position = response.header('content-range');
    // A part that ends before it starts is past the end of the file, and the whole file wouldn't help.
    return isPlain && (parseContentRange(position)?.start === start || isEmptyRange(position));
  }
  if (status !== 416) return true;
  const total = parseUnsatisfiedTotal(response.header('content-range')) ?? identity.total;
  const isOther = identity.total !== null && total !== identity.total;
  return isOther || (total === null ? start > 0 : start >= total);
}

function checkPart(
  received: UpstreamResponse,
  { identity, context }: RemoteObject,
  range: ByteRange | null,
  wantedEnd: number | null,
): UpstreamPart | null {
  const start = range?.start ?? 0;
  const response = plain(received);
  // The length of compressed bytes says nothing about the file.
  const declared = response === received ? parseContentLength(response.header('content-length')) : null;
  if (response.status === 416 && start > 0) {
    const total = parseUnsatisfiedTotal(response.header('content-range')) ?? identity.total;
    if (identity.total !== null && total !== identity.total) throw changedFault('the size');
    if (total !== null && start < total) throw protocolFault('rejected a range that exists');
    response.destroy();
    return null;
  }
  if (response.status === 416 && parseUnsatisfiedTotal(response.header('content-range')) === 0)
    throw emptyFile();
  if (!isWhole(response) && response.status !== 206) {
    throw faultFromStatus(response.status, response.header('retry-after'));
  }
  if (isWhole(response)) {
    if (start > 0 && identity.hasNoValidators)
      throw protocolFault("broke the connection and can't identify the file to resume it");
    checkIdentity(response, declared);
    if (declared !== null && start > 0 && start >= declared) {
      response.destroy();
      return null;
    }
    const end = endOf(wantedEnd, declared);
    const hasSurplus = end !== null && end + 1 !== declared;
    return { response, skip: start, end, hasSurplus };
  }
  const part = parseContentRange(response.header('content-range'));
  if (!part) throw protocolFault('sent a part of the file without its position');
  if (part.start !== start) throw protocolFault('sent a different part of the file than requested');
  if (declared !== null && declared !== part.end - part.start + 1) {
    throw protocolFault('contradicted itself about the length of a part');
  }
  checkIdentity(response, part.total);
  if (identity.total !== null && part.end >= identity.total) throw changedFault('the size');
  const end = Math.min(part.end, range?.end ?? part.end);
  return { response, skip: 0, end, hasSurplus: end < part.end };

  function checkIdentity(seen: UpstreamResponse, total: number | null): void {
    const mismatch = identity.mismatch(seen, total);
    if (mismatch !== null) throw changedFault(`the ${mismatch}`);
    const { maxBytes } = context.limits;
    if (total !== null && total > maxBytes) throw tooLarge(maxBytes);
  }
}

/** The same response, uncompressed. */
function plain(response: UpstreamResponse): UpstreamResponse {
  const encoding = contentEncoding(response.header('content-encoding'));
  if (encoding === null || (!isWhole(response) && response.status !== 206)) return response;
  const file = isWhole(response) ? decompressed(response, encoding) : undefined;
  if (file === undefined) throw protocolFault(`compressed the file (${encoding.slice(0, 20)})`);
  return file;
}

function endOf(wanted: number | null, total: number | null): number | null {
  if (total === null) return wanted;
  return wanted === null ? total - 1 : Math.min(wanted, total - 1);
}

function emptyFile(): TransferFault {
  return finalFault('no_media', "The site's media file is empty. Try another page or format.");
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2);

export function tooLarge(maxBytes: number): TransferFault {
  return finalFault(
    'too_long',
    `The file is larger than the ${mebibytes(maxBytes)} MiB that this service reads. Use a shorter video. If you run this server: set STREAM_MAX_BYTES above ${mebibytes(maxBytes / 2)} MiB (the service reads up to twice that).`,
  );
}
