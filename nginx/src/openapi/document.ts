import { packageVersion, type ApiDescription, type JsonObject } from '@media-services/http-common';
import { api as bgRemoval } from '@media-services/bg-removal/dist/api/openapi.js';
import { api as videoDl } from '@media-services/video-dl/dist/api/openapi.js';
import { healthPath, healthTag } from './health.js';
import { describeOperation } from './operations.js';
import { problemExamples } from './problems.js';
import { Schemas } from './schemas.js';

/** Replaced by the gateway with its own address, as the client sees it. */
const serverPlaceholder = 'http://gateway.invalid';

/** The OpenAPI 3.1 document of everything behind the gateway. */
export function openApiDocument(apis: readonly ApiDescription[] = [videoDl, bgRemoval]): JsonObject {
  const schemas = new Schemas();
  const paths = Object.fromEntries(
    apis.flatMap((api) =>
      api.operations.map((operation) => [
        operation.path,
        { [operation.method]: describeOperation(operation, api, schemas) },
      ]),
    ),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Media Services',
      version: packageVersion(new URL('../../package.json', import.meta.url)),
      description:
        'Two services behind one gateway: details and downloads of public video pages, and images without their background. `HEAD` works wherever `GET` does and returns the same status and headers. Every error is a problem document (RFC 9457); match on its `code`.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: "The server's operator" },
    },
    servers: [{ url: serverPlaceholder, description: 'The gateway that serves this document' }],
    tags: [...apis.map(({ tag }) => tag), healthTag],
    // The first one is what Postman uses. A gateway without keys requires none.
    security: [{ bearer: [] }, { apiKey: [] }, { basic: [] }, { signature: [], expires: [] }, {}],
    paths: { ...paths, '/api/health': healthPath(schemas) },
    components: {
      schemas: schemas.all(),
      examples: problemExamples(),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'Your access key, if the operator has handed out keys.',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'The same key.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'The same key as the password, with any user name.',
        },
        signature: {
          type: 'apiKey',
          in: 'query',
          name: 'signature',
          description:
            'Instead of a key, for GET requests to video endpoints: a signature made with the key. Always the last parameter, after `expires`.',
        },
        expires: {
          type: 'apiKey',
          in: 'query',
          name: 'expires',
          description: 'Until when the signature is valid: seconds since 1970.',
        },
      },
    },
  };
}
