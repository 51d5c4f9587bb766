import type { z } from 'zod';
import { codesOf, type ErrorCode, type ErrorTable } from '../errors/error-table.js';
import { problemMediaType } from '../errors/problem.js';
import {
  commonHeaders,
  healthSchema,
  type JsonObject,
  jsonSchema,
  problemSchema,
  queryParameters,
  rangeParameters,
  retryAfterHeader,
} from './common-parts.js';

/** A successful response: JSON with a schema, or bytes of a media type. */
export interface Success {
  readonly description: string;
  /** Several if the request chooses. */
  readonly mediaType: string | readonly string[];
  /** Absent: the body is binary. */
  readonly schema?: z.ZodType;
  /** Description and schema by header name. */
  readonly headers?: Readonly<Record<string, { description: string; schema: JsonObject }>>;
}

export interface Operation {
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The schema that validates the query. */
  readonly query?: z.ZodObject;
  /** The schema that validates the form, and its file. */
  readonly form?: {
    readonly fields: z.ZodObject;
    /** `orField`: a field that can be sent instead. */
    readonly file: { name: string; description: string; orField?: string };
  };
  readonly success: Success;
  /** The response to a `Range` request, if the operation supports ranges. */
  readonly partial?: Success;
}

export interface DocumentOptions {
  /** The service's name at the gateway. */
  readonly service: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly operations: readonly Operation[];
  /** Every error code of the service. */
  readonly errors: ErrorTable;
}

/** Codes that no existing endpoint returns for its own method. */
const outsideOperations: readonly ErrorCode[] = ['not_found', 'method_not_allowed'];

/** The OpenAPI 3.1 document of one service. */
export function createOpenApiDocument(options: DocumentOptions): JsonObject {
  const { service, title, version, description, operations, errors } = options;
  const codes = codesOf(errors);
  return {
    openapi: '3.1.0',
    info: { title, version, description, license: { name: 'MIT', identifier: 'MIT' } },
    // Relative to this document (OpenAPI 3.1, 4.8.5): the gateway may be served under a path
    // prefix.
    servers: [{ url: `../${service}`, description: 'The gateway that serves this document' }],
    externalDocs: { description: 'Every error code with its cause and remedy', url: 'errors' },
    tags: [
      { name: 'endpoints', description: "The service's main operations." },
      { name: 'health', description: 'Whether the service is ready.' },
      { name: 'headers', description: 'The headers of GET, without the body.' },
    ],
    paths: Object.fromEntries([
      ...operations.map((operation) => pathItem(operation, errors)),
      ['/api/health', healthPath()],
    ]),
    components: {
      schemas: { Problem: problemSchema(codes), Health: healthSchema() },
      headers: { 'Retry-After': retryAfterHeader, ...commonHeaders },
    },
  };
}

function pathItem(operation: Operation, errors: ErrorTable): [string, JsonObject] {
  const { path, method, operationId, summary, description, query, form, success, partial } = operation;
  const shared = {
    ...((query || partial) && {
      parameters: [...(query ? queryParameters(query) : []), ...(partial ? rangeParameters : [])],
    }),
  };
  const describeOperation = (id: string, about: string, withContent: boolean): JsonObject => ({
    tags: [withContent ? 'endpoints' : 'headers'],
    operationId: id,
    summary: about,
    description,
    ...shared,
    ...(form && { requestBody: requestBody(form) }),
    responses: {
      '200': successResponse(success, withContent),
      ...(partial && withContent && { '206': successResponse(partial, withContent) }),
      ...errorResponses(errors, { withContent, withRanges: partial !== undefined }),
    },
  });
  return [
    path,
    {
      [method]: describeOperation(operationId, summary, true),
      ...(method === 'get' && {
        head: describeOperation(`${operationId}Headers`, `${summary} (headers only)`, false),
      }),
    },
  ];
}

function requestBody({ fields, file }: NonNullable<Operation['form']>): JsonObject {
  const schema = jsonSchema(fields);
  const properties = { [file.name]: { type: 'string', format: 'binary', description: file.description } };
  return {
    required: true,
    content: {
      'multipart/form-data': {
        schema: {
          ...schema,
          properties: { ...properties, ...(schema.properties as JsonObject) },
          required: [
            ...(file.orField === undefined ? [file.name] : []),
            ...((schema.required as string[] | undefined) ?? []),
          ],
          ...(file.orField !== undefined && {
            oneOf: [{ required: [file.name] }, { required: [file.orField] }],
          }),
        },
      },
    },
  };
}

function successResponse(
  { description, mediaType, schema, headers = {} }: Success,
  withContent: boolean,
): JsonObject {
  const body = schema === undefined ? { type: 'string', format: 'binary' } : jsonSchema(schema, 'output');
  return {
    description,
    headers: { ...headers, ...headerReferences() },
    ...(withContent && {
      content: Object.fromEntries([mediaType].flat().map((type) => [type, { schema: body }])),
    }),
  };
}

/** One response per error status of an endpoint, with the codes that share the status. */
function errorResponses(
  errors: ErrorTable,
  { withContent, withRanges }: { readonly withContent: boolean; readonly withRanges: boolean },
): JsonObject {
  const codes = codesOf(errors).filter(
    (code) => !outsideOperations.includes(code) && (withRanges || errors[code].status !== 416),
  );
  const statuses = [...new Set(codes.map((code) => errors[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const sharing = codes.filter((code) => errors[code].status === status);
      const hasRetryAfter = status === 429 || status === 503;
      return [
        String(status),
        {
          description: sharing
            .map((code) => `[\`${code}\`](errors#${anchorOf(code)}) ${errors[code].title}.`)
            .join('\n\n'),
          headers: { ...(hasRetryAfter && reference('Retry-After')), ...headerReferences() },
          ...(withContent && {
            content: {
              [problemMediaType]: {
                schema: narrowedProblem(status, sharing),
                examples: Object.fromEntries(sharing.map((code) => [code, problemExample(code, errors)])),
              },
            },
          }),
        },
      ];
    }),
  );
}

function narrowedProblem(status: number, codes: readonly ErrorCode[]): JsonObject {
  return {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { status: { const: status }, code: { enum: [...codes] } },
  };
}

function problemExample(code: ErrorCode, errors: ErrorTable): JsonObject {
  const { status, title, cause, remedy, retryable } = errors[code];
  return {
    summary: title,
    value: {
      type: `/docs/errors#${anchorOf(code)}`,
      title,
      status,
      detail: `${cause} ${remedy}`,
      code,
      retryable,
      requestId: '0b9b4b7e-6a7c-4f6e-9a53-1c1f1b0c7a52',
    },
  };
}

/** The fragment of a code in the errors page: `geo_blocked` is at `#geo-blocked`. */
function anchorOf(code: ErrorCode): string {
  return code.replaceAll('_', '-');
}

function healthPath(): JsonObject {
  const response = (description: string, withContent: boolean, hasRetryAfter = false): JsonObject => ({
    description,
    headers: { ...(hasRetryAfter && reference('Retry-After')), ...headerReferences() },
    ...(withContent && {
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Health' } } },
    }),
  });
  const operation = (operationId: string, summary: string, withContent: boolean): JsonObject => ({
    tags: [withContent ? 'health' : 'headers'],
    operationId,
    summary,
    description:
      'The checks run real work on the engines; successes are reused for a few seconds. Through the gateway, `/api/health` is the health of both services.',
    responses: {
      '200': response("Ready; `degraded` works, but needs the operator's attention.", withContent),
      '503': response('Starting, draining or not working.', withContent, true),
    },
  });
  return {
    get: operation('getHealth', 'Whether the service is ready', true),
    head: operation('getHealthHeaders', 'Whether the service is ready (status only)', false),
  };
}

function headerReferences(): JsonObject {
  return reference(...Object.keys(commonHeaders));
}

function reference(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
