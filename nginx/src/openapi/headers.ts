import type { JsonObject } from '@media-services/http-common';

/** Headers of more than one response, by name. Repeated in each, because openapi-generator fails on references to headers. */
const commonHeaders = {
  'X-Request-Id': {
    description:
      "Identifies this request in the logs. The client's own id is kept if it matches `^[A-Za-z0-9_-]{1,64}$`.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
  'Server-Timing': {
    description: 'Milliseconds by stage (W3C Server Timing). Absent if the gateway itself responds.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the same request can succeed.',
    schema: { type: 'integer', minimum: 1 },
  },
  'WWW-Authenticate': {
    description: 'How to send the key.',
    schema: { type: 'string', examples: ['Bearer'] },
  },
} satisfies Record<string, JsonObject>;

export function headers(...names: readonly (keyof typeof commonHeaders)[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, commonHeaders[name]]));
}

/** The headers of every response of a service. */
export function serviceHeaders(): JsonObject {
  return headers('X-Request-Id', 'Server-Timing');
}
