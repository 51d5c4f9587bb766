import { DomainError, type FieldError } from './domain-error.js';
import type { ErrorCode, ErrorTable } from './error-table.js';

export const problemMediaType = 'application/problem+json';

/** RFC 9457 problem details with this project's extensions. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly errors?: readonly FieldError[];
}

export interface ProblemContext {
  /** The service's error codes. */
  readonly errors: ErrorTable;
  readonly requestId: string;
  /** The base URL of `/docs/errors`; empty for a path on the responding host. */
  readonly docsBaseUrl: string;
}

const defaultRetryAfterSeconds = 5;

/** The URL of the documentation, for example `/docs`. */
export function docsUrl(docsBaseUrl: string): string {
  return `${docsBaseUrl.replace(/(?<!\/)\/+$/, '')}/docs`;
}

/** The URL that documents a code, for example `/docs/errors#geo-blocked`. */
export function problemType(code: ErrorCode, docsBaseUrl: string): string {
  return `${docsUrl(docsBaseUrl)}/errors#${code.replaceAll('_', '-')}`;
}

/** Maps a domain error to the problem sent to the client. */
export function toProblem(error: DomainError, context: ProblemContext): Problem {
  const { status, title, retryable } = context.errors[error.code];
  return {
    type: problemType(error.code, context.docsBaseUrl),
    title,
    status,
    detail: error.message,
    code: error.code,
    retryable,
    requestId: context.requestId,
    ...(error.fields === undefined ? {} : { errors: error.fields }),
  };
}

/** Seconds for `Retry-After`; always set for 429 and 503. */
export function retryAfterSeconds(error: DomainError, status: number): number | undefined {
  const fallback = status === 429 || status === 503 ? defaultRetryAfterSeconds : undefined;
  const seconds = error.retryAfterSeconds ?? fallback;
  return seconds === undefined ? undefined : Math.max(1, Math.ceil(seconds));
}

/**
 * Converts any thrown value to a domain error. Unknown ones become `internal_error`, with the
 * cause kept for the log.
 */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  return new DomainError(
    'internal_error',
    'An unexpected error occurred. Report it with the requestId, under which the log has the cause.',
    { cause: thrown },
  );
}
