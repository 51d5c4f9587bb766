import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { root } from './stack.js';

const header = z.object({ schema: z.record(z.string(), z.unknown()) });
const bodySchema = z.record(z.string(), z.unknown()).default({ format: 'binary' });
const response = z.object({
  headers: z.record(z.string(), header).default({}),
  content: z.record(z.string(), z.object({ schema: bodySchema })).optional(),
});
const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ responses: z.record(z.string(), response) })),
  ),
  components: z.looseObject({}),
});

/** The documented contract, to check real responses against. */
export class Contract {
  readonly #document: z.infer<typeof documentSchema>;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

  constructor() {
    const text = readFileSync(join(root, 'nginx/html/docs/openapi.json'), 'utf8');
    this.#document = documentSchema.parse(JSON.parse(text, closed));
    this.#ajv.addSchema({ ...this.#document, $id: 'contract' });
  }

  /**
   * Reads the response and compares status, media type, headers and body.
   * @returns the differences from the documentation
   */
  async violations(path: string, method: 'get' | 'head' | 'post', answer: Response): Promise<string[]> {
    const bytes = Buffer.from(await answer.arrayBuffer());
    const operation = this.#document.paths[path]?.[method === 'head' ? 'get' : method];
    if (operation === undefined) return [`${method} ${path} is not documented`];
    const documented = operation.responses[String(answer.status)];
    if (documented === undefined) return [`status ${answer.status} is not documented: ${bytes.toString()}`];
    return [
      ...this.#headerViolations(documented, answer),
      ...(method === 'head' ? bodyOfHead(bytes) : this.#bodyViolations(documented, answer, bytes)),
    ];
  }

  #headerViolations({ headers }: z.infer<typeof response>, answer: Response): string[] {
    return Object.entries(headers).flatMap(([name, { schema }]) => {
      const text = answer.headers.get(name);
      if (text === null) return optionalHeaders.has(name) ? [] : [`header ${name} is missing`];
      const value = schema.type === 'integer' || schema.type === 'number' ? Number(text) : text;
      return this.#ajv.validate(schema, value) ? [] : [`header ${name}: ${this.#ajv.errorsText()}`];
    });
  }

  #bodyViolations({ content }: z.infer<typeof response>, answer: Response, bytes: Buffer): string[] {
    if (content === undefined) return bytes.length === 0 ? [] : ['there is a body where none is documented'];
    const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? 'none';
    const documented = content[mediaType];
    if (documented === undefined) return [`media type ${mediaType} is not documented`];
    if (documented.schema.format === 'binary') return bytes.length > 0 ? [] : ['the body is empty'];
    const inDocument = JSON.parse(
      JSON.stringify(documented.schema).replaceAll('"#/', '"contract#/'),
    ) as object;
    const body: unknown = JSON.parse(bytes.toString());
    return this.#ajv.validate(inDocument, body) ? [] : [`${this.#ajv.errorsText()}: ${bytes.toString()}`];
  }
}

function bodyOfHead(bytes: Buffer): string[] {
  return bytes.length === 0 ? [] : ['there is a body in the response to HEAD'];
}

/** Clients accept new members, but here each one must be documented. For `JSON.parse`. */
function closed(_key: string, value: unknown): unknown {
  const isOpen = z.object({ type: z.literal('object'), properties: z.object() }).safeParse(value).success;
  return isOpen ? { additionalProperties: false, ...(value as object) } : value;
}

/** Documented as absent where the value is unknown. */
const optionalHeaders = new Set(['Content-Length', 'ETag', 'Estimated-Content-Length', 'X-Content-Duration']);
