import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

const defaultSchema = z.object({ default: z.union([z.number(), z.string(), z.boolean()]) });

/** A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1; `input` is what a client sends. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonObject {
  const body: JsonObject = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema: generated }) => {
      // What arrives as text but means a number is documented as the number.
      if (generated.type === 'number' || generated.type === 'integer') delete generated.pattern;
      // zod leaves the default of a transformed input out, as it cannot know its input form.
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
