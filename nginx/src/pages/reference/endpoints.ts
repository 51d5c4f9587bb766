import { openApiDocuments } from '../../openapi/open-api-documents.js';
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
  /** Whether it also supports HEAD. */
  readonly hasHead: boolean;
}

export interface Service {
  readonly name: string;
  readonly document: OpenApi;
  readonly endpoints: readonly Endpoint[];
}

/** The endpoints of both services behind the gateway, from their OpenAPI documents. */
export function services(): Service[] {
  return Object.entries(openApiDocuments).map(([name, json]) => {
    const document = readOpenApi(json);
    return { name, document, endpoints: endpointsOf(name, document) };
  });
}

function endpointsOf(service: string, { paths }: OpenApi): Endpoint[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const id = `${service}-${operation.operationId}`;
      const hasHead = method === 'get' && item.head !== undefined;
      return [
        { id, method, path: pathAtGateway(service, path), operation, inputs: inputsOf(operation), hasHead },
      ];
    }),
  );
}

/** The root path returns the health of both services; each service's health is below its name. */
function pathAtGateway(service: string, path: string): string {
  return path === '/api/health' ? `/${service}${path}` : path;
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
