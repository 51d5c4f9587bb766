import type { OpenApiDocument } from './gateway-answers.js';

type Documents = Readonly<Record<string, OpenApiDocument>>;
type PathItem = OpenApiDocument['paths'][string];

/** Behind the gateway, this path returns the health of both services. */
const healthPath = '/api/health';

/**
 * One document of everything behind the gateway, for client generators: both services under the
 * gateway's own paths, the health of each under its name, and the optional key.
 */
export function combinedDocument(documents: Documents): OpenApiDocument {
  const all = Object.values(documents);
  const [first] = all;
  if (first === undefined) throw new TypeError('There is no document to combine.');
  const problem = structuredClone(first.components.schemas.Problem);
  const codes = all.flatMap(({ components }) => components.schemas.Problem.properties.code.enum);
  problem.properties.code.enum = [...new Set(codes)];
  const headers: OpenApiDocument['components']['headers'] = {};
  const schemas: OpenApiDocument['components']['schemas'] = { ...first.components.schemas };
  for (const { components } of all) {
    Object.assign(headers, components.headers);
    Object.assign(schemas, components.schemas);
  }
  return {
    ...first,
    info: {
      ...first.info,
      title: 'Media Services',
      description:
        'Two services behind one gateway. video-dl: takes the URL of a public video page and returns details as JSON, audio or video. bg-removal: an image in; the same image without its background out.',
    },
    servers: [{ url: '..', description: 'The gateway that serves this document' }],
    // Either nothing or the key, because a gateway without keys requires none.
    security: [{}, { key: [] }],
    paths: {
      ...Object.fromEntries(Object.entries(documents).flatMap(([name, document]) => pathsOf(name, document))),
      [healthPath]: gatewayHealth(first.paths[healthPath] ?? {}),
    },
    components: {
      ...first.components,
      headers,
      schemas: { ...schemas, Problem: problem, GatewayHealth: gatewayHealthSchema },
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'Only where the operator has handed out keys.',
        },
      },
    },
  };
}

/** Paths at the gateway; those that both services have include the service's name. */
function pathsOf(name: string, { paths }: OpenApiDocument): [string, PathItem][] {
  const suffix = name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.entries(paths).map(([path, item]) => {
    if (path !== healthPath) return [path, item];
    const operations = Object.entries(item).map(([method, operation]) => [
      method,
      { ...operation, operationId: `${String(operation['operationId'])}Of${suffix}` },
    ]);
    return [`/${name}${path}`, Object.fromEntries(operations) as PathItem];
  });
}

/** The gateway queries both services, and responds even if one is down. */
function gatewayHealth(item: PathItem): PathItem {
  const operations = Object.entries(item).map(([method, operation]) => {
    const responses = Object.fromEntries(
      Object.entries(operation.responses).filter(([status]) => status !== '502' && status !== '504'),
    );
    return [method, { ...operation, summary: 'Whether both services can work', responses }];
  });
  const text = JSON.stringify(Object.fromEntries(operations));
  return JSON.parse(text.replaceAll('/schemas/Health"', '/schemas/GatewayHealth"')) as PathItem;
}

const gatewayHealthSchema = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ok', 'degraded', 'error'] },
    limits: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: "The gateway's limits for each client, named like their settings; 0 for no limit.",
    },
    features: {
      type: 'object',
      additionalProperties: { type: 'boolean' },
      description: 'What the operator has switched on: `accessKeys` if requests need a key.',
    },
    services: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { $ref: '#/components/schemas/Health' },
          { type: 'object', properties: { status: { const: 'down' } }, required: ['status'] },
        ],
      },
      description: 'By name: `video-dl` and `bg-removal`; `down` if a service does not respond.',
    },
  },
  required: ['status', 'limits', 'features', 'services'],
};
