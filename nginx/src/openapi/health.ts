import type { JsonObject } from '@media-services/http-common';
import { z } from 'zod';
import { documentedErrors } from '../errors/documented-errors.js';
import { headers } from './headers.js';
import { describeProblems } from './problems.js';
import type { Schemas } from './schemas.js';

export const healthTag = { name: 'Health', description: 'Whether the server can work, and its limits.' };

const limits = z
  .record(z.string(), z.number())
  .describe('Limits for each client, named like their settings; 0 for no limit.');
const features = z.record(z.string(), z.boolean()).describe('What the operator has switched on.');

const check = z
  .looseObject({ status: z.enum(['ok', 'degraded', 'starting', 'error']) })
  .meta({ id: 'HealthCheck', description: 'The state of one part, with more details.' });

const serviceHealth = z
  .object({
    status: z
      .enum(['ok', 'degraded', 'starting', 'draining', 'error', 'down'])
      .describe('`down`: the service does not respond, and the other members are absent.'),
    version: z.string().optional(),
    uptimeSeconds: z.int().min(0).optional(),
    limits: limits.optional(),
    features: features.optional(),
    checks: z.record(z.string(), check).optional().describe('The state of each part.'),
  })
  .meta({ id: 'ServiceHealth' });

const health = z
  .object({
    status: z.enum(['ok', 'degraded', 'error']),
    limits,
    features,
    services: z.record(z.string(), serviceHealth).describe('By name: `video-dl` and `bg-removal`.'),
  })
  .meta({ id: 'Health' });

/** `/api/health` of the gateway, which asks both services. */
export function healthPath(schemas: Schemas): JsonObject {
  const response = (description: string): JsonObject => ({
    description,
    content: { 'application/json': { schema: schemas.describe(health, 'output') } },
  });
  return {
    get: {
      tags: [healthTag.name],
      operationId: 'getHealth',
      summary: 'Whether the services can work',
      description:
        'The checks run real work on the engines; successes are reused for a few seconds. Needs no key.',
      security: [],
      responses: {
        '200': {
          ...response("Every service works; `degraded` needs the operator's attention."),
          headers: headers('X-Request-Id'),
        },
        ...describeProblems(
          documentedErrors().filter(({ code }) => code === 'rate_limited'),
          schemas,
        ),
        '503': {
          ...response('A service is starting, stopping or not working.'),
          headers: headers('Retry-After', 'X-Request-Id'),
        },
      },
    },
  };
}
