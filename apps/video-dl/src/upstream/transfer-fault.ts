import { TinyPiecesError } from '@media-services/egress-guard';
import { DomainError, errorCode } from '@media-services/http-common';

/** What may help against a fault: asking again, a new URL, nothing. */
export type Remedy = 'retry' | 'renew' | 'none';

/** Something went wrong between the relay and upstream; `failure` is what it comes to when not recovered. */
export class TransferFault extends Error {
  override readonly name = 'TransferFault';
  readonly failure: DomainError;
  readonly remedy: Remedy;
  /** As the server asked with Retry-After. */
  readonly retryAfterMs: number;

  constructor(failure: DomainError, remedy: Remedy, retryAfterMs = 0) {
    super(failure.message, { cause: failure });
    this.failure = failure;
    this.remedy = remedy;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The media server broke the rules or the file is another one now: going on would corrupt the medium. */
export function brokenRules(what: string, cause?: unknown): TransferFault {
  const detail = `The site's media server ${what}, so the medium cannot be put together. Try again.`;
  return new TransferFault(new DomainError('upstream_error', detail, { cause }), 'none');
}

/**
 * Reads what undici, the guard or a socket threw.
 * @throws the error itself when it is none of the network: a mistake of ours, which no repetition mends
 */
export function faultFrom(error: unknown): TransferFault {
  if (error instanceof TransferFault) return error;
  if (error instanceof DomainError) {
    const worthRetrying = ['upstream_unreachable', 'upstream_timeout', 'upstream_rate_limited'].includes(
      error.code,
    );
    return new TransferFault(error, worthRetrying ? 'retry' : 'none');
  }
  if (error instanceof TinyPiecesError) return brokenRules('sends the file in pieces of a few bytes', error);
  const code = errorCode(error) ?? '';
  if (/^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    const detail = "The certificate of the site's media server is not valid, so nothing is read from it.";
    return new TransferFault(new DomainError('upstream_unreachable', detail, { cause: error }), 'none');
  }
  if (!isNetworkCode(code)) throw error;
  const detail = "The connection to the site's media server broke off and could not be resumed. Try again.";
  return new TransferFault(new DomainError('upstream_error', detail, { cause: error }), 'retry');
}

/** Of the system, of Node's streams and TLS, of undici and its HTTP parser. */
function isNetworkCode(code: string): boolean {
  return (
    /^(?:E(?:CONN|NET|HOST|TIMEDOUT|PIPE|PROTO|ADDR|AI_)|UND_ERR_|HPE_|ERR_SSL_|ERR_TLS_|ERR_OSSL_)/.test(
      code,
    ) || ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'].includes(code)
  );
}

const passing = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524]);

/**
 * Reads an answer that is no media.
 * @param retryAfter the header, in seconds or as a date
 */
export function faultFromStatus(status: number, retryAfter: string | undefined): TransferFault {
  const remedy: Remedy = status === 403 || status === 410 ? 'renew' : passing.has(status) ? 'retry' : 'none';
  return new TransferFault(failureFromStatus(status), remedy, retryAfterMs(retryAfter));
}

function failureFromStatus(status: number): DomainError {
  if (status === 429) {
    return new DomainError('upstream_rate_limited', "The site's media server asks for a pause (HTTP 429).", {
      retryAfterSeconds: 60,
    });
  }
  if (status === 404 || status === 410) {
    return new DomainError(
      'video_not_found',
      `The video file no longer exists on the site (HTTP ${status}). Open the page in a browser and check that the video plays.`,
    );
  }
  if (status === 451) {
    return new DomainError(
      'geo_blocked',
      'The site does not deliver this video in the country of this service (HTTP 451).',
    );
  }
  if (status === 504 || status === 408) {
    return new DomainError(
      'upstream_timeout',
      `The site's media server did not answer in time (HTTP ${status}).`,
    );
  }
  if (status === 401 || status === 403) {
    return new DomainError(
      'upstream_error',
      `The site's media server refuses this service (HTTP ${status}). Try again later; an operator can set COOKIES_FILE, OUTBOUND_PROXY or YTDLP_EXTRACTOR_ARGS.`,
    );
  }
  const detail = `The site's media server answered HTTP ${status} instead of the medium. Try again later.`;
  return new DomainError('upstream_error', detail);
}

function retryAfterMs(header: string | undefined): number {
  if (header === undefined) return 0;
  const seconds = /^\d{1,6}$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 0;
}
