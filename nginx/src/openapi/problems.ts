import {
  codesOf,
  problemMediaType,
  type ErrorTable,
  type HeaderDescriptions,
  type JsonObject,
  type Operation,
} from '@media-services/http-common';
import { z } from 'zod';
import { anchorOf, documentedErrors } from '../errors/documented-errors.js';
import { gatewayProblems, type DocumentedError } from '../errors/gateway-errors.js';
import { headers, serviceHeaders } from './headers.js';
import type { Schemas } from './schemas.js';

/** Codes that no existing endpoint returns for its own method. */
const outsideOperations = new Set(['not_found', 'method_not_allowed']);

const invalidField = z
  .object({
    field: z.string().describe('Name of a parameter, form field or header.'),
    message: z.string().describe('What it must be.'),
  })
  .meta({ id: 'InvalidField' });

const problem = z
  .object({
    type: z.string().describe('URL of the documentation of this code.'),
    title: z.string().describe('A short summary of the code, always the same.'),
    status: z.int().min(400).max(599),
    detail: z.string().describe('What happened, why, and what to do. Can be shown to users.'),
    code: z.string().describe('The error code to match on in programs. Later versions may add codes.'),
    retryable: z.boolean().describe('Whether the same request may succeed later.'),
    requestId: z.string().describe('Identifies the request in the logs.'),
    errors: z.array(invalidField).optional().describe('Every invalid field; only present for invalid input.'),
  })
  .meta({ id: 'Problem', description: 'An error, as problem details (RFC 9457).' });

function problemSchema(schemas: Schemas): JsonObject {
  const codes = documentedErrors().map(({ code }) => code);
  const reference = schemas.describe(problem, 'output');
  schemas.extend('Problem', 'code', { 'x-extensible-enum': codes });
  return reference;
}

/** One response per error status of an endpoint, with the codes that share the status. */
export function problemResponses(operation: Operation, errors: ErrorTable, schemas: Schemas): JsonObject {
  const fromGateway = gatewayProblems.filter((each) => each.atEveryEndpoint).map(({ code }) => code);
  const codes: readonly string[] = [...codesOf(errors), ...fromGateway];
  const possible = documentedErrors().filter(
    ({ code, status }) =>
      codes.includes(code) && (operation.partial !== undefined || (status !== 416 && status !== 412)),
  );
  return describeProblems(possible, schemas, operation.rateLimitHeaders);
}

/** The responses of one endpoint for these errors. */
export function describeProblems(
  errors: readonly DocumentedError[],
  schemas: Schemas,
  rateLimitHeaders: HeaderDescriptions = {},
): JsonObject {
  const possible = errors.filter(({ code }) => !outsideOperations.has(code));
  const statuses = [...new Set(possible.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const sharing = possible.filter((error) => error.status === status);
      return [
        String(status),
        {
          description: sharing.map(({ code, title }) => `\`${code}\`: ${title}.`).join('\n\n'),
          headers: { ...headersOf(status, rateLimitHeaders), ...serviceHeaders() },
          content: {
            [problemMediaType]: {
              schema: problemSchema(schemas),
              examples: Object.fromEntries(
                sharing.map(({ code }) => [code, { $ref: `#/components/examples/${code}` }]),
              ),
            },
          },
        },
      ];
    }),
  );
}

function headersOf(status: number, rateLimitHeaders: HeaderDescriptions): JsonObject {
  if (status === 401) return headers('WWW-Authenticate');
  if (status === 429) return { ...headers('Retry-After'), ...rateLimitHeaders };
  if (status === 502 || status === 503) return headers('Retry-After');
  if (status !== 416) return {};
  return {
    'Content-Range': { description: 'The size of the file: `bytes */SIZE`.', schema: { type: 'string' } },
  };
}

/** An example of each code, by code. */
export function problemExamples(): JsonObject {
  return Object.fromEntries(
    documentedErrors()
      .filter(({ code }) => !outsideOperations.has(code))
      .map(({ code, status, title, cause, remedy, retryable }) => [
        code,
        {
          summary: title,
          value: {
            type: `/docs/errors#${anchorOf(code)}`,
            ...{ title, status, detail: `${cause} ${remedy}`, code, retryable },
            requestId: '0b9b4b7e-6a7c-4f6e-9a53-1c1f1b0c7a52',
          },
        },
      ]),
  );
}
