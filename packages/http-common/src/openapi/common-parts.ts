import { z } from 'zod';
import { jsonSchema, type JsonObject } from './json-schema.js';

/** On every answer. */
export const commonHeaders = {
  'X-Request-Id': {
    description:
      'Names this request in the logs; the one that the client sent where it matches `^[A-Za-z0-9_-]{1,64}$`.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
  'Server-Timing': {
    description: 'Milliseconds by stage (W3C Server Timing).',
    schema: { type: 'string' },
  },
} satisfies JsonObject;

export const retryAfterHeader: JsonObject = {
  description: 'Seconds to wait before the same request can succeed.',
  schema: { type: 'integer', minimum: 1 },
};

const problem = (codes: readonly string[]) =>
  z.strictObject({
    type: z.string().describe('URL of the documentation of this code.'),
    title: z.string().describe('The code in words, the same every time.'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened this time, why, and what to do.'),
    code: z.enum(codes).describe('For programs.'),
    retryable: z.boolean().describe('Whether the very same request may succeed later.'),
    requestId: z.string().describe('To find the request in the logs.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Every field that is not valid; only for invalid input.'),
  });

const health = z.strictObject({
  status: z.enum(['ok', 'degraded', 'starting', 'draining', 'error']),
  version: z.string(),
  uptimeSeconds: z.int().min(0),
  checks: z
    .record(z.string(), z.looseObject({ status: z.enum(['ok', 'degraded', 'starting', 'error']) }))
    .describe('By engine, with what is known of it.'),
});

/** RFC 9457 problem details with one of the codes. */
export function problemSchema(codes: readonly string[]): JsonObject {
  return jsonSchema(problem(codes), 'output');
}

export function healthSchema(): JsonObject {
  return jsonSchema(health, 'output');
}

/** The request headers of a download that can be resumed (RFC 9110 §13.1.5, §14.2). */
export const rangeParameters: readonly JsonObject[] = [
  {
    name: 'Range',
    in: 'header',
    required: false,
    description:
      'One range of bytes, where the answer has `Accept-Ranges: bytes`; anything else gets the whole.',
    schema: { type: 'string', examples: ['bytes=1000000-'] },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description: 'The `ETag` of what the client has already: when it is no longer that, the whole comes.',
    schema: { type: 'string' },
  },
];
