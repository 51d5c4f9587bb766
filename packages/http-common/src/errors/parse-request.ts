import type { z } from 'zod';
import { InvalidRequestError, type FieldError } from './domain-error.js';

/**
 * Validates outside input.
 * @throws InvalidRequestError with every invalid and every unknown field.
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
