import type { z } from 'zod';
import type { ErrorCode } from './error-table.js';

/** One invalid field: its name, and what it must be. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

export interface DomainErrorOptions {
  /** The underlying error; logged, never sent. */
  readonly cause?: unknown;
  readonly retryAfterSeconds?: number;
  readonly fields?: readonly FieldError[];
}

/**
 * A failure to report to the client, independent of HTTP: the error middleware maps its code
 * through the error table. `message` becomes the problem's `detail`: what happened, why, and
 * what to do.
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

/** Invalid input, with every invalid field. */
export class InvalidRequestError extends DomainError {
  override readonly name = 'InvalidRequestError';

  constructor(fields: readonly FieldError[], detail?: string) {
    super('invalid_request', detail ?? sentence(fields), { fields });
  }
}

const maxFieldsInDetail = 5;

/** Many programs show only `detail`, so it names the fields too: "fmt must be …; start must be …." */
function sentence(fields: readonly FieldError[]): string {
  const shown = fields
    .slice(0, maxFieldsInDetail)
    .map(({ field, message }) => `${field.slice(0, 50)} ${message}`);
  const more = fields.length - shown.length;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more, see \`errors\`` : ''}.`;
}

/** The client closed the connection before the response was complete. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';

  constructor() {
    super('The client closed the connection before the response was complete.');
  }
}

/** The `code` of an error of Node or undici (`ESRCH`, `UND_ERR_SOCKET`); undefined for anything else. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/**
 * Validates outside input.
 * @throws InvalidRequestError listing every invalid and unknown field
 */
export function parseRequest<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidRequestError(parsed.error.issues.flatMap(fieldErrors));
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((field) => ({ field, message: 'is not a parameter of this endpoint' }));
  }
  return [{ field: issue.path.join('.') || 'request', message: issue.message }];
}
