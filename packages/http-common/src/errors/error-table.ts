/** How a code is reported to clients and documented. */
export interface ErrorDefinition {
  readonly status: number;
  readonly title: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly cause: string;
  readonly remedy: string;
}

/** Error codes shared by all services. */
export const sharedErrors = {
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    retryable: false,
    cause: 'A parameter is missing, unknown, repeated, malformed or out of range.',
    remedy: 'Correct every field that `errors` names.',
  },
  gateway_only: {
    status: 403,
    title: 'Only through the gateway',
    retryable: false,
    cause: "The request went to the service's own port instead of the gateway.",
    remedy: 'Send it to the gateway. If you run this server without one: unset GATEWAY_SECRET.',
  },
  not_found: {
    status: 404,
    title: 'No such endpoint',
    retryable: false,
    cause: 'The service has no endpoint at this path.',
    remedy: 'Check the path against the API documentation.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    retryable: false,
    cause: 'The endpoint exists but does not support this method.',
    remedy: 'Use a method listed in the `Allow` header.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    retryable: true,
    cause: 'This client has used up its requests for now.',
    remedy: 'Wait for the number of seconds in `Retry-After`.',
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    retryable: true,
    cause: 'The service has reached its configured limit of running and queued work.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. If you run this server: add replicas or raise the limits.',
  },
  engine_unavailable: {
    status: 503,
    title: 'The engine is not available',
    retryable: true,
    cause: 'The engine is starting, has just crashed or is shutting down.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. If you run this server: check the health endpoint and the log.',
  },
  timeout: {
    status: 504,
    title: 'The work took too long',
    retryable: true,
    cause: "The service's deadline passed before the work was done.",
    remedy: 'Try again later or with smaller input.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    retryable: false,
    cause: 'Something failed that should not have.',
    remedy: "Report it with the `requestId`; the service's log has the cause under that id.",
  },
} as const satisfies Record<string, ErrorDefinition>;

/**
 * Every code of a service with its definition, the single source for responses and
 * documentation. A service adds its own codes by declaration merging, so a `DomainError` with
 * an undefined code doesn't compile:
 *
 * ```ts
 * declare module '@media-services/http-common' {
 *   interface ErrorTable extends Record<keyof typeof ownErrors, ErrorDefinition> {}
 * }
 * ```
 */
export interface ErrorTable extends Record<keyof typeof sharedErrors, ErrorDefinition> {}

export type ErrorCode = keyof ErrorTable;

export function codesOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}
