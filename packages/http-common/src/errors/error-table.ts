/** What a code means to the client and what its documentation says. */
export interface ErrorDefinition {
  readonly status: number;
  readonly title: string;
  /** True when the very same request may succeed later. */
  readonly retryable: boolean;
  readonly cause: string;
  readonly remedy: string;
}

/** The codes that every service has. */
export const sharedErrors = {
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    retryable: false,
    cause: 'A parameter is missing, unknown, repeated, malformed or out of range.',
    remedy: 'Correct every field that `errors` names.',
  },
  not_found: {
    status: 404,
    title: 'No such endpoint',
    retryable: false,
    cause: 'The path is not one of the service.',
    remedy: 'Check the path against the API documentation.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    retryable: false,
    cause: 'The endpoint exists but does not answer this method.',
    remedy: 'Use a method that the `Allow` header names.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    retryable: true,
    cause: 'This client IP has used up its requests for now.',
    remedy: 'Wait as many seconds as `Retry-After` says.',
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    retryable: true,
    cause: 'As much work is running and queued as the service is configured to take.',
    remedy: 'Wait as many seconds as `Retry-After` says; as the operator, add replicas or raise the limits.',
  },
  engine_unavailable: {
    status: 503,
    title: 'The engine is not available',
    retryable: true,
    cause: 'The engine is starting, has just crashed or is shutting down.',
    remedy:
      'Wait as many seconds as `Retry-After` says; as the operator, look at the health endpoint and the log.',
  },
  timeout: {
    status: 504,
    title: 'The work took too long',
    retryable: true,
    cause: 'The deadline of the service passed before the work was done.',
    remedy: 'Try again later or with smaller input.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    retryable: false,
    cause: 'Something failed that should not have.',
    remedy: 'Report it with the `requestId`; the log of the service has the cause under that id.',
  },
} as const satisfies Record<string, ErrorDefinition>;

/**
 * Every code of a service with its definition: the one source for its answers and
 * their documentation. A service adds its own codes by declaration merging, so that
 * a `DomainError` with a code that nothing defines does not compile:
 *
 * ```ts
 * declare module '@media-services/http-common' {
 *   interface ErrorTable extends Record<keyof typeof ownErrors, ErrorDefinition> {}
 * }
 * ```
 */
export interface ErrorTable extends Record<keyof typeof sharedErrors, ErrorDefinition> {}

export type ErrorCode = keyof ErrorTable;

/** The codes of a table, in its order. */
export function codesOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}
