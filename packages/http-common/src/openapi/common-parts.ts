import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

const defaultSchema = z.object({ default: z.union([z.number(), z.string(), z.boolean()]) });

/** A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1; `input` is what a client sends. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonObject {
  const body: JsonObject = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema: generated }) => {
      // Numbers arrive as text, but are documented as numbers.
      if (generated.type === 'number' || generated.type === 'integer') delete generated.pattern;
      // zod omits the default of a transformed input, because it can't know its input form.
      const fallback = defaultSchema.safeParse(z.globalRegistry.get(zodSchema)).data;
      if (fallback !== undefined) generated.default = fallback.default;
    },
  });
  // The document itself says which dialect it uses.
  delete body.$schema;
  return body;
}

/** The fields of a query schema as OpenAPI parameters. */
export function queryParameters(schema: z.ZodObject): JsonObject[] {
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...valueSchema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema: valueSchema,
  }));
}

/** Headers of every response. */
export const commonHeaders = {
  'X-Request-Id': {
    description:
      "Identifies this request in the logs. The client's own id is kept if it matches `^[A-Za-z0-9_-]{1,64}$`.",
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
    title: z.string().describe('A short summary of the code, always the same.'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened, why, and what to do.'),
    code: z.enum(codes).describe('The error code to match on in programs.'),
    retryable: z.boolean().describe('Whether the same request may succeed later.'),
    requestId: z.string().describe('Identifies the request in the logs.'),
    errors: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe('Every invalid field; only present for invalid input.'),
  });

const health = z.strictObject({
  status: z.enum(['ok', 'degraded', 'starting', 'draining', 'error']),
  version: z.string(),
  uptimeSeconds: z.int().min(0),
  limits: z
    .record(z.string(), z.number())
    .describe('Limits for clients, named like their settings; 0 for no limit.'),
  features: z.record(z.string(), z.boolean()).describe('What the operator has switched on.'),
  checks: z
    .record(z.string(), z.looseObject({ status: z.enum(['ok', 'degraded', 'starting', 'error']) }))
    .describe('The state of each engine.'),
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
      'One byte range, if the response has `Accept-Ranges: bytes`. Otherwise the whole file is sent.',
    schema: { type: 'string', examples: ['bytes=1000000-'] },
  },
  {
    name: 'If-Range',
    in: 'header',
    required: false,
    description:
      "The `ETag` of the client's partial copy. If the file has changed since, the whole file is sent.",
    schema: { type: 'string' },
  },
];
