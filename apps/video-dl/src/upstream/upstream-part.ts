import { DomainError } from '@media-services/http-common';
import {
  formatRange,
  parseContentLength,
  parseContentRange,
  parseUnsatisfiedTotal,
  type ByteRange,
} from './byte-range.js';
import type { RemoteObject } from './remote-object.js';
import type { TransferContext } from './transfer-context.js';
import { brokenRules, faultFromStatus, TransferFault } from './transfer-fault.js';
import { requestUpstream, type UpstreamResponse } from './upstream-request.js';

/** An answer that was checked: bytes of the right object at a known place. */
export interface UpstreamPart {
  readonly kind: 'bytes';
  readonly response: UpstreamResponse;
  /** Bytes of the body in front of the wanted ones: the server ignored the range. */
  readonly skip: number;
  /** Last byte that this answer will bring; null when it goes up to an end that nobody told. */
  readonly end: number | null;
  /** Whether the body goes on behind `end`: the server ignored where the range ends. */
  readonly hasSurplus: boolean;
  /** Whether the server states no length, so that the clean end of the body is the end of the object. */
  readonly isOpenEnded: boolean;
}

/** The wanted bytes begin behind the end of the object. */
export interface BehindEnd {
  readonly kind: 'behind-end';
}

/**
 * Asks for bytes of an object and checks what comes back against what was
 * asked and what is known of the object.
 * @param range what to ask for; null asks for the object without a range
 * @param wantedEnd last byte of interest: a server that ignores the range is read on up to it; null for all
 * @throws TransferFault, undici's errors, `signal.reason`
 */
export async function requestPart(
  object: RemoteObject,
  range: ByteRange | null,
  wantedEnd: number | null,
  context: TransferContext,
  signal: AbortSignal,
): Promise<UpstreamPart | BehindEnd> {
  const { identity } = object;
  const ifRange = range && identity.strongEtag;
  const response = await requestUpstream({
    locator: await object.url.locate(signal),
    extraHeaders: { ...(range && { range: formatRange(range) }), ...(ifRange && { 'if-range': ifRange }) },
    dispatcher: context.dispatcher,
    limits: context.limits,
    signal,
  });
  try {
    return checkPart(response, object, range, wantedEnd, context);
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

function checkPart(
  response: UpstreamResponse,
  { identity }: RemoteObject,
  range: ByteRange | null,
  wantedEnd: number | null,
  context: TransferContext,
): UpstreamPart | BehindEnd {
  const start = range?.start ?? 0;
  const declared = parseContentLength(response.header('content-length'));
  if (response.status === 416 && start > 0) {
    const total = parseUnsatisfiedTotal(response.header('content-range')) ?? identity.total;
    if (identity.total !== null && total !== identity.total)
      throw brokenRules('changed the size of the file');
    if (total !== null && start < total) throw brokenRules('refuses a part of the file that exists');
    response.body.destroy();
    return { kind: 'behind-end' };
  }
  if (response.status === 416 && parseUnsatisfiedTotal(response.header('content-range')) === 0)
    throw emptyFile();
  if (response.status !== 200 && response.status !== 206) {
    throw faultFromStatus(response.status, response.header('retry-after'));
  }
  const encoding = contentEncoding(response);
  if (encoding !== 'identity' && !(encoding === 'gzip' && context.mayBeCompressed === true))
    throw brokenRules(`compressed the file (${encoding.slice(0, 20)})`);

  if (response.status === 200) {
    if (start > 0 && identity.isUnrecognisable)
      throw brokenRules('broke off and cannot continue a file it says nothing about');
    agree(response, declared);
    if (declared !== null && start > 0 && start >= declared) {
      response.body.destroy();
      return { kind: 'behind-end' };
    }
    const end = endOf(wantedEnd, declared);
    const hasSurplus = end !== null && end + 1 !== declared;
    return { kind: 'bytes', response, skip: start, end, hasSurplus, isOpenEnded: declared === null };
  }
  const part = parseContentRange(response.header('content-range'));
  if (!part) throw brokenRules('sent a part of the file without saying which');
  if (part.start !== start) throw brokenRules('sent another part of the file than was asked for');
  if (range?.end !== null && range?.end !== undefined && part.end > range.end) {
    throw brokenRules('sent more of the file than was asked for');
  }
  if (declared !== null && declared !== part.end - part.start + 1) {
    throw brokenRules('contradicts itself about the length of the part it sends');
  }
  agree(response, part.total);
  return { kind: 'bytes', response, skip: 0, end: part.end, hasSurplus: false, isOpenEnded: false };

  function agree(answer: UpstreamResponse, total: number | null): void {
    const differs = identity.disagreement(answer, total);
    if (differs !== null) throw brokenRules(`changed the ${differs} of the file while it was being read`);
    const { maxBytes } = context.limits;
    if (total !== null && total > maxBytes) throw tooLarge(maxBytes);
  }
}

/** Storage services label plain bytes with an empty encoding, or with the one they were uploaded in. */
export function contentEncoding(response: UpstreamResponse): string {
  const codings = (response.header('content-encoding') ?? '').toLowerCase().split(',');
  const real = codings.map((each) => each.trim()).filter((each) => !plainCodings.has(each));
  return real.length === 0 ? 'identity' : real.join(',').replace(/^x-gzip$/, 'gzip');
}

const plainCodings = new Set(['', 'identity', 'aws-chunked']);

function endOf(wanted: number | null, total: number | null): number | null {
  if (total === null) return wanted;
  return wanted === null ? total - 1 : Math.min(wanted, total - 1);
}

function emptyFile(): TransferFault {
  return new TransferFault(new DomainError('no_media', "The site's media file is empty."), 'none');
}

const mebibytes = (bytes: number): number => Math.floor(bytes / 1024 ** 2);

/** More than the service takes. */
export function tooLarge(maxBytes: number): TransferFault {
  return new TransferFault(
    new DomainError(
      'too_long',
      `The file is larger than the ${mebibytes(maxBytes)} MiB that this service reads. Use a shorter video; as the operator, set STREAM_MAX_BYTES to more than ${mebibytes(maxBytes / 2)} MiB, since twice as much is read.`,
    ),
    'none',
  );
}
