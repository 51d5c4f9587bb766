import { z } from 'zod';

/** The services' problem document (RFC 9457), as far as a client goes by it. */
const problemSchema = z.object({
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  retryable: z.boolean(),
  requestId: z.string().optional(),
});

/** `code` of failures that no service has told: nothing answered, or a stream broke off. */
export type LocalCode = 'unreachable' | 'stream_broken' | 'unexpected_answer';

interface Details {
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** Whether the very same request may succeed later. */
  readonly retryable: boolean;
  /** As `Retry-After` says. */
  readonly retryAfterSeconds?: number | undefined;
  /** Finds the request in the logs of gateway and service. */
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/**
 * Everything that can go wrong with a request, by `code`: one of the services'
 * error codes (docs/errors.md) or a {@link LocalCode}.
 */
export class MediaServicesError extends Error {
  override readonly name = 'MediaServicesError';
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: string, message: string, details: Details) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.retryable = details.retryable;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestId = details.requestId;
  }
}

/** The error for an answer that is not a success; `body` is what came with it, parsed where it was JSON. */
export function errorOfAnswer(response: Response, body: unknown): MediaServicesError {
  const parsed = problemSchema.safeParse(body);
  const retryAfterSeconds = secondsOf(response.headers.get('Retry-After'));
  if (parsed.success) {
    const { code, detail, status, retryable, requestId } = parsed.data;
    return new MediaServicesError(code, detail, { status, retryable, retryAfterSeconds, requestId });
  }
  const { status } = response;
  return new MediaServicesError(
    'unexpected_answer',
    `The answer is HTTP ${status} without a problem document: is this URL a media-services gateway?`,
    { status, retryable: status >= 500, retryAfterSeconds },
  );
}

/** The error for a request that got no answer. */
export function errorOfConnection(baseUrl: string, cause: unknown): MediaServicesError {
  const reason = reasonOf(cause);
  return new MediaServicesError('unreachable', `${baseUrl} cannot be reached: ${reason}`, {
    status: 0,
    retryable: true,
    cause,
  });
}

/** What was thrown, also where it comes from another realm and is no `Error` of this one. */
const thrownSchema = z.object({ name: z.string(), message: z.string(), cause: z.unknown().optional() });

/** Whether somebody ended the request by its signal. */
export function isAbort(thrown: unknown): boolean {
  return thrownSchema.safeParse(thrown).data?.name === 'AbortError';
}

/** fetch says only "fetch failed"; the reason is below it. */
function reasonOf(thrown: unknown): string {
  const error = thrownSchema.safeParse(thrown).data;
  if (error === undefined) return String(thrown);
  return error.cause === undefined ? error.message : reasonOf(error.cause) || error.message;
}

function secondsOf(header: string | null): number | undefined {
  const seconds = header === null || header.trim() === '' ? NaN : Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
