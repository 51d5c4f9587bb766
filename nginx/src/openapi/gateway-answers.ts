import { z } from 'zod';
import { anchorOf, documentedErrors } from '../errors/documented-errors.js';
import { gatewayErrors, gatewayProblems, type DocumentedError } from '../errors/gateway-errors.js';

const content = z.looseObject({
  schema: z.looseObject({
    properties: z.looseObject({ code: z.looseObject({ enum: z.array(z.string()) }) }),
  }),
  examples: z.record(z.string(), z.unknown()),
});
const response = z.looseObject({
  description: z.string(),
  content: z.looseObject({ 'application/problem+json': content.optional() }).optional(),
});
const operation = z.looseObject({ responses: z.record(z.string(), response) });
const document = z.looseObject({
  info: z.looseObject({}),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    headers: z.record(z.string(), z.unknown()),
    schemas: z.looseObject({
      Problem: z.looseObject({
        properties: z.looseObject({ code: z.looseObject({ enum: z.array(z.string()) }) }),
      }),
    }),
  }),
});
export type OpenApiDocument = z.infer<typeof document>;
type Response = z.infer<typeof response>;

const atEveryEndpoint = gatewayProblems.filter((problem) => problem.atEveryEndpoint);
const gatewayCodes = atEveryEndpoint.map(({ code }) => code);

/** Health needs no key (nginx/templates). */
const withoutKey = '/api/health';

/**
 * The OpenAPI document of a service behind the gateway: each endpoint can also return the
 * gateway's own errors.
 * @throws TypeError if the document was not made by createOpenApiDocument
 */
export function withGatewayAnswers(json: unknown): OpenApiDocument {
  const described: unknown = structuredClone(json);
  if (!isDocument(described)) throw new TypeError('This document was not made by createOpenApiDocument.');
  const { code } = described.components.schemas.Problem.properties;
  code.enum = [...new Set([...code.enum, ...gatewayErrors.map((error) => error.code)])];
  for (const [path, item] of Object.entries(described.paths)) {
    for (const [method, { responses }] of Object.entries(item)) {
      for (const error of documentedErrors()) {
        if (!gatewayCodes.includes(error.code)) continue;
        if (error.code === 'unauthorized' && path === withoutKey) continue;
        const known = responses[error.status];
        responses[error.status] = alsoWith(known ?? emptyResponse(error.status, method), error);
      }
    }
  }
  return described;
}

/** A type guard, because parsing would copy the document and change the order of its members. */
function isDocument(json: unknown): json is OpenApiDocument {
  return document.safeParse(json).success;
}

/** A response of nginx itself; HEAD has no body. */
function emptyResponse(status: number, method: string): Response {
  const waits = atEveryEndpoint.some(
    (each) => each.status === status && each.retryAfterSeconds !== undefined,
  );
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { status: { const: status }, code: { enum: [] } },
  };
  return {
    description: '',
    headers: {
      ...(waits && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
      ...(status === 401 && {
        'WWW-Authenticate': { description: 'How to send the key.', schema: { type: 'string' } },
      }),
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    },
    ...(method !== 'head' && { content: { 'application/problem+json': { schema, examples: {} } } }),
  };
}

/** Adds a code to the response, unless it already has it. */
function alsoWith(known: Response, error: DocumentedError): Response {
  const { code, title } = error;
  const line = `[\`${code}\`](errors#${anchorOf(code)}) ${title}.`;
  if (known.description.includes(line)) return known;
  const body = known.content?.['application/problem+json'];
  const properties = body?.schema.properties;
  return {
    ...known,
    description: [known.description, line].filter((part) => part !== '').join('\n\n'),
    ...(body &&
      properties && {
        content: {
          'application/problem+json': {
            schema: {
              ...body.schema,
              properties: { ...properties, code: { enum: [...properties.code.enum, code] } },
            },
            examples: { ...body.examples, [code]: example(error) },
          },
        },
      }),
  };
}

function example({ code, status, title, cause, remedy, retryable }: DocumentedError) {
  const problem = { type: `/docs/errors#${anchorOf(code)}`, title, status, detail: `${cause} ${remedy}` };
  const requestId = '0b9b4b7e-6a7c-4f6e-9a53-1c1f1b0c7a52';
  return { summary: title, value: { ...problem, code, retryable, requestId } };
}
