import { z } from 'zod';

/** The parts of JSON Schema that the documents use. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly maxLength?: number | undefined;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    description: z.string().optional(),
    properties: z.record(z.string(), schema).optional(),
    required: z.array(z.string()).optional(),
    items: schema.optional(),
    anyOf: z.array(schema).optional(),
    enum: z.array(z.unknown()).optional(),
    default: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    maxLength: z.number().optional(),
  }),
);

const header = z.object({ description: z.string().optional() });

const response = z.object({
  description: z.string(),
  headers: z.record(z.string(), header).default({}),
  content: z
    .record(
      z.string(),
      z.object({
        schema: schema.default({ type: 'string', format: 'binary' }),
        examples: z.record(z.string(), z.object({ $ref: z.string() })).default({}),
      }),
    )
    .default({}),
});

const parameter = z.object({
  name: z.string(),
  in: z.enum(['query', 'header']),
  required: z.boolean(),
  description: z.string().default(''),
  schema,
});

const operation = z.object({
  tags: z.array(z.string()),
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content: z.object({ 'multipart/form-data': z.object({ schema }) }) }).optional(),
  responses: z.record(z.string(), response),
});

const pathItem = z.object({
  get: operation.optional(),
  post: operation.optional(),
});

const document = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), pathItem),
  components: z.object({
    schemas: z.record(z.string(), schema),
    examples: z.record(z.string(), z.object({ summary: z.string(), value: z.unknown() })),
  }),
});

export type OpenApi = z.infer<typeof document>;
export type Operation = z.infer<typeof operation>;
export type Response = z.infer<typeof response>;
export type Header = z.infer<typeof header>;

/** @throws ZodError if a document has something that the reference does not show */
export function readOpenApi(json: unknown): OpenApi {
  return document.parse(json);
}

/** Resolves a reference such as `#/components/schemas/Health`; returns anything else unchanged. */
export function resolve<Part extends { $ref?: string | undefined }>(
  part: Part,
  components: Readonly<Record<string, Part>>,
): Part {
  if (part.$ref === undefined) return part;
  const target = components[part.$ref.split('/').at(-1) ?? ''];
  if (target === undefined) throw new Error(`The document has no ${part.$ref}.`);
  return target;
}
