import { z } from 'zod';

export type JsonObject = Record<string, unknown>;

/** A schema, and the named schemas (`.meta({ id })`) that it refers to as `#/components/schemas/NAME`. */
export interface DescribedSchema {
  readonly schema: JsonObject;
  readonly named: Readonly<Record<string, JsonObject>>;
}

const defaultSchema = z.object({ default: z.union([z.number(), z.string(), z.boolean()]) });
const jsonObject = z.record(z.string(), z.unknown());
const alternatives = z.array(jsonObject).length(2);
const described = z.looseObject({ $defs: z.record(z.string(), jsonObject).default({}) });

/**
 * A zod schema as JSON Schema 2020-12, the dialect of OpenAPI 3.1, without what confuses generators of
 * clients; `input` is what a client sends.
 */
export function describeSchema(schema: z.ZodType, io: 'input' | 'output'): DescribedSchema {
  const whole = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      // Numbers and booleans arrive as text, but are documented as such; a format says it in a word.
      if (jsonSchema.type !== 'string' || jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.type === 'boolean') delete jsonSchema.enum;
      // The names of a JSON object's members are always text.
      delete jsonSchema.propertyNames;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // Later versions add members to responses.
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      // zod omits the default of a transformed input, because it can't know its input form.
      const fallback = defaultSchema.safeParse(z.globalRegistry.get(zodSchema)).data;
      if (fallback !== undefined) jsonSchema.default = fallback.default;
      simplifyNullable(jsonSchema);
    },
  });
  const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs: named, ...rest } = described.parse(JSON.parse(text));
  // The document itself says which dialect it uses.
  delete rest.$schema;
  return { schema: rest, named };
}

/** `string or null` as two types instead of two alternatives. */
function simplifyNullable(schema: Record<string, unknown>): void {
  const [value, nothing] = alternatives.safeParse(schema.anyOf).data ?? [];
  if (nothing?.type !== 'null' || typeof value?.type !== 'string' || value.type === 'object') return;
  delete schema.anyOf;
  Object.assign(schema, { ...value, type: [value.type, 'null'], ...schema });
  if (Array.isArray(value.enum)) schema.enum = [...(value.enum as unknown[]), null];
}
