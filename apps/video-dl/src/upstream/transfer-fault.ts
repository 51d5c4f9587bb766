import { TinyPiecesError } from '@media-services/egress-guard';
import { DomainError, errorCode, type ErrorCode } from '@media-services/http-common';
import { errors } from 'undici';
import { Rejection } from '../formats/rejection.js';

/** What may fix a fault: a retry, a fresh URL, or nothing. */
export type FaultRemedy = 'retry' | 'renew' | 'none';

/** A problem between the relay and upstream; `failure` is the resulting error if it can't be fixed. */
export class TransferFault extends Error {
  override readonly name = 'TransferFault';
  readonly failure: DomainError;
  readonly remedy: FaultRemedy;
  /** As the server asked with Retry-After. */
  readonly retryAfterMs: number;

  constructor(failure: DomainError, remedy: FaultRemedy, retryAfterMs = 0) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.remedy = remedy;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A fault that nothing fixes. */
export function finalFault(code: ErrorCode, detail: string, cause?: unknown): TransferFault {
  return new TransferFault(new DomainError(code, detail, { cause }), 'none');
}

/** The server violated HTTP or the file changed. Continuing would corrupt the file. */
export function protocolFault(what: string, cause?: unknown): TransferFault {
  const detail = `The site's media server ${what}, so the file can't be read reliably. Try again.`;
  return finalFault('upstream_error', detail, cause);
}

/** A server sent another version of a file than before. Some do that with every response. */
export class ChangedFileError extends DomainError {}

/** @param what as in "the size" */
export function changedFault(what: string): TransferFault {
  const detail = `The site's media server changed ${what} of the file while it was being read. Try again.`;
  return new TransferFault(new ChangedFileError('upstream_error', detail), 'none');
}

/**
 * Classifies an error from undici, the guard, a socket or a parser.
 * @throws the error itself when it isn't a network error: a bug of ours, which no retry fixes
 */
export function faultFrom(error: unknown): TransferFault {
  if (error instanceof TransferFault) return error;
  if (error instanceof Rejection) return finalFault(error.code, error.message);
  if (error instanceof DomainError) {
    const worthRetrying = ['upstream_unreachable', 'upstream_timeout', 'upstream_rate_limited'].includes(
      error.code,
    );
    return new TransferFault(error, worthRetrying ? 'retry' : 'none');
  }
  if (error instanceof TinyPiecesError)
    return protocolFault('sends the file in pieces of a few bytes', error);
  const code = errorCode(error) ?? '';
  if (/^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    const detail =
      "The TLS certificate of the site's media server is invalid, so the file can't be downloaded. Use another source, or try again once the site has renewed it.";
    return finalFault('upstream_unreachable', detail, error);
  }
  // undici doesn't give every error of its HTTP parser a code.
  if (!isNetworkCode(code) && !(error instanceof errors.HTTPParserError)) throw error;
  const detail = "The connection to the site's media server broke and couldn't be resumed. Try again.";
  return new TransferFault(new DomainError('upstream_error', detail, { cause: error }), 'retry');
}

/** Codes of the system, Node's streams and TLS, and undici with its HTTP parser. */
function isNetworkCode(code: string): boolean {
  return (
    /^(?:E(?:CONN|NET|HOST|TIMEDOUT|PIPE|PROTO|ADDR|AI_)|UND_ERR_|HPE_|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/.test(
      code,
    ) || ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes(code)
  );
}

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

/**
 * The fault for an error response.
 * @param retryAfter the header, in seconds or as a date
 */
export function faultFromStatus(status: number, retryAfter: string | undefined): TransferFault {
  const remedy: FaultRemedy =
    status === 403 || status === 410 ? 'renew' : transientStatuses.has(status) ? 'retry' : 'none';
  const [code, what, retryAfterSeconds] = statusFailures[status] ?? otherFailure;
  const detail = `The site's media server responded with HTTP ${status}: ${what}`;
  const options = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new TransferFault(new DomainError(code, detail, options), remedy, retryAfterMs(retryAfter));
}

type StatusFailure = readonly [code: ErrorCode, what: string, retryAfterSeconds?: number];

const isGone: StatusFailure = [
  'video_not_found',
  'the video file no longer exists. Open the page in a browser and check that the video plays.',
];
const isLate: StatusFailure = ['upstream_timeout', "it didn't get the file in time. Try again later."];
const isRejected: StatusFailure = [
  'upstream_error',
  'it rejects this service. Try again later. If you run this server: set COOKIES_FILE, OUTBOUND_PROXY or YTDLP_EXTRACTOR_ARGS.',
];
const otherFailure: StatusFailure = ['upstream_error', 'it has an error. Try again later.'];
const statusFailures: Readonly<Partial<Record<number, StatusFailure>>> = {
  401: isRejected,
  403: isRejected,
  404: isGone,
  408: isLate,
  410: isGone,
  429: ['upstream_rate_limited', 'it limits the requests of this service. Try again in a minute.', 60],
  451: [
    'geo_blocked',
    "it blocks this video in this service's country. Use another source. If you run this server: OUTBOUND_PROXY can use another region.",
  ],
  504: isLate,
};

function retryAfterMs(header: string | undefined): number {
  if (header === undefined) return 0;
  const seconds = /^\d{1,6}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
