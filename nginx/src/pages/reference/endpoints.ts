import { openApiDocument } from '../../openapi/document.js';
import { readOpenApi, type OpenApi, type Operation, type Schema } from './open-api.js';

/** One input of an endpoint, in any part of the request. */
export interface Input {
  readonly name: string;
  readonly in: 'query' | 'header' | 'form';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Endpoint {
  /** The fragment of its section. */
  readonly id: string;
  readonly method: 'get' | 'post';
  /** At the gateway, without the base path. */
  readonly path: string;
  readonly operation: Operation;
  readonly inputs: readonly Input[];
}

export interface EndpointGroup {
  readonly name: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
}

/** The document, and its endpoints by tag. */
export function readReference(): { document: OpenApi; groups: EndpointGroup[] } {
  const document = readOpenApi(openApiDocument());
  const endpoints = endpointsOf(document);
  const groups = document.tags.map(({ name, description }) => ({
    name,
    description,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name)),
  }));
  return { document, groups };
}

function endpointsOf({ paths }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      return [{ id: operation.operationId, method, path, operation, inputs: inputsOf(operation) }];
    }),
  );
}

function inputsOf({ parameters, requestBody }: Operation): Input[] {
  const form = requestBody?.content['multipart/form-data'].schema;
  const fields = Object.entries(form?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'form' as const,
    required: form?.required?.includes(name) ?? false,
    description: schema.description ?? '',
    schema,
  }));
  return [...parameters, ...fields];
}
