import type { ServiceCode } from './generated/codes.js';

/** An object of unknown content, as `JSON.parse` returns it. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A parameter that the service rejected, by its name in the HTTP API. */
export interface RejectedField {
  readonly field: string;
  /** Follows the name in a sentence: `must be after start`. */
  readonly message: string;
}

/** `code` of failures on the client's side: no response, a broken stream, or a response that isn't ours. */
export type LocalCode = 'unreachable' | 'stream_broken' | 'unexpected_answer';

/** The codes of this version (docs/errors.md). A newer server may send others. */
export type ErrorCode = ServiceCode | LocalCode;

// `& {}` keeps the editor's suggestions for a union with `string`.
type AnyCode = ErrorCode | (string & {});

interface Details {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** From `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
  /** Identifies the request in the logs of the gateway and the service. */
  readonly requestId?: string | undefined;
  readonly fields?: readonly RejectedField[];
  readonly cause?: unknown;
}

/** A failed request. */
export class MediaServicesError extends Error {
  override readonly name = 'MediaServicesError';
  readonly code: AnyCode;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  /** What `invalid_request` rejects. */
  readonly fields: readonly RejectedField[];

  constructor(code: AnyCode, message: string, details: Details) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryable = details.retryable;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestId = details.requestId;
    this.fields = details.fields ?? [];
  }
}

/** @param body the response's body, parsed if it was JSON */
export function responseError(response: Response, body: unknown): MediaServicesError {
  const retryAfterSeconds = secondsOf(response.headers.get('Retry-After'));
  const problem = problemOf(body);
  if (problem !== undefined) {
    const { code, detail, ...details } = problem;
    return new MediaServicesError(code, detail, { ...details, retryAfterSeconds });
  }
  const { status } = response;
  // Answers of proxies and networks in front of the gateway.
  const retryable = status >= 500 || status === 429;
  const advice = retryable ? 'Try again later.' : 'Check that the URL is a media-services gateway.';
  return new MediaServicesError(
    'unexpected_answer',
    `Unexpected response (HTTP ${status}). ${redirectOf(response) ?? advice}`,
    { status, retryable, retryAfterSeconds },
  );
}

/** The part of the services' problem document (RFC 9457) that a client uses. */
function problemOf(body: unknown) {
  if (!isRecord(body)) return undefined;
  const { code, detail, status, retryable, requestId, errors } = body;
  if (typeof code !== 'string' || typeof detail !== 'string' || typeof status !== 'number') return undefined;
  const fields = Array.isArray(errors) ? errors.filter(isRejectedField) : [];
  const id = typeof requestId === 'string' ? requestId : undefined;
  return { code, detail, status, retryable: retryable === true, requestId: id, fields };
}

function isRejectedField(value: unknown): value is RejectedField {
  return isRecord(value) && typeof value.field === 'string' && typeof value.message === 'string';
}

function redirectOf({ redirected, url }: Response): string | undefined {
  if (!redirected) return undefined;
  return `The server redirects to ${new URL(url).origin}: if that is the gateway, use its URL.`;
}

export function connectionError(baseUrl: string, cause: unknown): MediaServicesError {
  const reason = reasonOf(cause);
  return new MediaServicesError(
    'unreachable',
    `Can't reach ${baseUrl} (${reason}). Check its URL, and that the server is running.`,
    {
      status: 0,
      retryable: true,
      cause,
    },
  );
}

/** Also for an error from another realm. */
export function isAbort(thrown: unknown): boolean {
  return isRecord(thrown) && thrown.name === 'AbortError';
}

/** fetch says only "fetch failed"; its cause holds the reason. */
function reasonOf(thrown: unknown): string {
  if (!isRecord(thrown) || typeof thrown.message !== 'string') return String(thrown);
  return thrown.cause === undefined ? thrown.message : reasonOf(thrown.cause) || thrown.message;
}

/** `Retry-After` is a number of seconds or a date (RFC 9110). */
function secondsOf(header: string | null): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const seconds = /^[a-z]/i.test(text) ? Math.ceil((Date.parse(text) - Date.now()) / 1000) : NaN;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
