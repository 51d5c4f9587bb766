import type { ApiDescription, JsonObject, Operation, Success } from '@media-services/http-common';
import { z } from 'zod';
import { serviceHeaders } from './headers.js';
import { problemResponses } from './problems.js';
import type { Schemas } from './schemas.js';

export function describeOperation(
  operation: Operation,
  { tag, errors }: ApiDescription,
  schemas: Schemas,
): JsonObject {
  const { operationId, summary, description, query, form, success, partial } = operation;
  const parameters = [...(query ? queryParameters(query, schemas) : []), ...(partial ? conditions : [])];
  return {
    tags: [tag.name],
    operationId,
    summary,
    description,
    ...(parameters.length > 0 && { parameters }),
    ...(form && { requestBody: requestBody(form, schemas) }),
    responses: {
      '200': successResponse(success, schemas),
      ...(partial && {
        '206': successResponse(partial, schemas),
        '304': {
          description: 'The client has this version already (`If-None-Match`).',
          headers: { ETag: partial.headers?.ETag, ...serviceHeaders() },
        },
      }),
      ...problemResponses(operation, errors, schemas),
    },
  };
}

const fieldsSchema = z.looseObject({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});

/** The fields of a query schema as OpenAPI parameters. */
function queryParameters(query: z.ZodObject, schemas: Schemas): JsonObject[] {
  const { properties, required } = fieldsSchema.parse(schemas.describe(query, 'input'));
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

/** Generators of clients drop the whole form if its schema has a `oneOf`, so words say what excludes what. */
function requestBody({ fields, file }: NonNullable<Operation['form']>, schemas: Schemas): JsonObject {
  const { properties, required } = fieldsSchema.parse(schemas.describe(fields, 'input'));
  const upload = { [file.name]: { type: 'string', format: 'binary', description: file.description } };
  return {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          type: 'object',
          properties: { ...upload, ...properties },
          ...(required.length > 0 && { required }),
        },
      },
    },
  };
}

function successResponse(
  { description, mediaType, schema, headers = {} }: Success,
  schemas: Schemas,
): JsonObject {
  const body =
    schema === undefined ? { type: 'string', format: 'binary' } : schemas.describe(schema, 'output');
  // openapi-python-client would decode every response of an operation with a text type as text.
  const contentOf = (type: string) => (type.startsWith('text/') ? {} : { schema: body });
  return {
    description,
    headers: { ...headers, ...serviceHeaders() },
    content: Object.fromEntries([mediaType].flat().map((type) => [type, contentOf(type)])),
  };
}

/** The request headers of a download that can be resumed (RFC 9110 §13.1, §14.2). */
const conditions: readonly JsonObject[] = [
  condition(
    'Range',
    'One byte range, if the response has `Accept-Ranges: bytes`. Otherwise the whole file is sent.',
    'bytes=1000000-',
  ),
  condition(
    'If-Range',
    "The `ETag` of the client's partial copy. If the file has changed since, the whole file is sent.",
  ),
  condition('If-None-Match', "The `ETag` of the client's copy. If it is current, the response is 304."),
  condition('If-Match', 'The `ETag` that the file must have. If it has another one, the response is 412.'),
];

function condition(name: string, description: string, example?: string): JsonObject {
  const schema = { type: 'string', ...(example !== undefined && { examples: [example] }) };
  return { name, in: 'header', required: false, description, schema };
}
