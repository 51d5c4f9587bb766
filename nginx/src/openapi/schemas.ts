import { describeSchema, type JsonObject } from '@media-services/http-common';
import { z } from 'zod';

const propertiesSchema = z.looseObject({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
});

/** Describes zod schemas, and collects those with a name for `components`. */
export class Schemas {
  readonly #named = new Map<string, JsonObject>();

  /** @param io `input` for what a client sends, `output` for what it gets */
  describe(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const described = describeSchema(schema, io);
    for (const [name, each] of Object.entries(described.named)) {
      const withoutId = { ...each };
      delete withoutId.id;
      this.#named.set(name, withoutId);
    }
    return described.schema;
  }

  /** Adds keywords to a property of a named schema. */
  extend(name: string, property: string, keywords: JsonObject): void {
    const properties = propertiesSchema.parse(this.#named.get(name)).properties;
    this.#named.set(name, {
      ...this.#named.get(name),
      properties: { ...properties, [property]: { ...properties[property], ...keywords } },
    });
  }

  all(): JsonObject {
    return Object.fromEntries([...this.#named].toSorted(([left], [right]) => (left < right ? -1 : 1)));
  }
}
