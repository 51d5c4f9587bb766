import type { ErrorCode } from './error-table.js';

/** One invalid input: the name the client used and what would be right. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface DomainErrorOptions {
  /** What really happened; logged, never sent. */
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
  readonly fields?: readonly FieldError[];
}

/**
 * A failure that the client can understand. It knows nothing of HTTP: the error
 * middleware maps its code through the error table. `message` is the problem's
 * `detail`: what happened, why, and what to do.
 */
export class DomainError extends Error {
  override readonly name: string = 'DomainError';
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly fields: readonly FieldError[] | undefined;

  constructor(code: ErrorCode, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.fields = options.fields;
  }
}

/** Invalid input; names every invalid field at once. */
export class InvalidRequestError extends DomainError {
  override readonly name = 'InvalidRequestError';

  constructor(fields: readonly FieldError[], detail?: string) {
    const names = [...new Set(fields.map(({ field }) => field))].join(', ');
    super('invalid_request', detail ?? `Invalid: ${names}. See \`errors\` for what each must be.`, {
      fields,
    });
  }
}

/** The client closed the connection before its answer was finished. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';

  constructor() {
    super('The client closed the connection before the answer was finished.');
  }
}
