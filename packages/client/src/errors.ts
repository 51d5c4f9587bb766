import { z } from 'zod';

/** The part of the services' problem document (RFC 9457) that a client uses. */
const problemSchema = z.object({
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  requestId: z.string().optional(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })).default([]),
});

/** A parameter that the service rejected, by its name in the HTTP API. */
export interface RejectedField {
  readonly field: string;
  /** Follows the name in a sentence: `must be after start`. */
  readonly message: string;
}

/** `code` of failures on the client's side: no response, a broken stream, or a response that isn't ours. */
export type LocalCode = 'unreachable' | 'stream_broken' | 'unexpected_answer';

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

/** A failed request. `code` is one of the services' error codes (docs/errors.md) or a {@link LocalCode}. */
export class MediaServicesError extends Error {
  override readonly name = 'MediaServicesError';
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  /** What `invalid_request` rejects. */
  readonly fields: readonly RejectedField[];

  constructor(code: string, message: string, details: Details) {
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
  const parsed = problemSchema.safeParse(body);
  const retryAfterSeconds = secondsOf(response.headers.get('Retry-After'));
  if (parsed.success) {
    const { code, title, detail, status, retryable, requestId, errors: fields } = parsed.data;
    const reasons = fields.map(({ field, message }) => `${field} ${message}`);
    const message = fields.length === 0 ? detail : `${title}: ${reasons.join('; ')}.`;
    return new MediaServicesError(code, message, { status, retryable, retryAfterSeconds, requestId, fields });
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

/** Anything thrown, including errors from another realm. */
const thrownSchema = z.object({ name: z.string(), message: z.string(), cause: z.unknown().optional() });

export function isAbort(thrown: unknown): boolean {
  return thrownSchema.safeParse(thrown).data?.name === 'AbortError';
}

/** fetch says only "fetch failed"; its cause holds the reason. */
function reasonOf(thrown: unknown): string {
  const error = thrownSchema.safeParse(thrown).data;
  if (error === undefined) return String(thrown);
  return error.cause === undefined ? error.message : reasonOf(error.cause) || error.message;
}

/** `Retry-After` is a number of seconds or a date (RFC 9110). */
function secondsOf(header: string | null): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text);
  const seconds = /^[a-z]/i.test(text) ? Math.ceil((Date.parse(text) - Date.now()) / 1000) : NaN;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
