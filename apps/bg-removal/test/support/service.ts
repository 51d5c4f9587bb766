import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import request, { type Response } from 'supertest';
import { loadConfig } from '@media-services/http-common';
import { configSchema } from '../../src/config.js';
import { createBgRemovalService, type BgRemovalService, type ServiceOverrides } from '../../src/service.js';
import { tinyModel, tinySize } from './tiny-model.js';

export interface TestService extends BgRemovalService {
  /** The URL of the data endpoint. */
  readonly endpoint: string;
}

/** Starts a service on free ports; MODEL defaults to a tiny network. */
export async function startService(
  env: Record<string, string> = {},
  overrides: ServiceOverrides = {},
): Promise<TestService> {
  const model = env['MODEL'] === undefined ? await tinyModel() : undefined;
  const config = loadConfig(configSchema, {
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    IMAGES_PER_MINUTE: '0',
    INFERENCE_PROCESSES: '1',
    INFERENCE_DEVICE: 'cpu',
    SHUTDOWN_GRACE_SECONDS: '1',
    ...(model && { MODEL: model.folder }),
    ...env,
  });
  // Their few images are small: warming up would take most of the time.
  const service = await createBgRemovalService(config, { warmUpRounds: 0, ...overrides });
  return {
    ...service,
    endpoint: `${service.url}/api/remove-background`,
    stop: async () => {
      await service.stop();
      await model?.remove();
    },
  };
}

export interface Health {
  readonly status: number;
  readonly body: { status: string; checks: Record<string, Record<string, unknown>> };
}

export async function health(service: TestService): Promise<Health> {
  const response = await request(service.url).get('/api/health');
  return { status: response.status, body: response.body as Health['body'] };
}

/** Polls health until it meets the condition. */
export async function healthUntil(
  service: TestService,
  wanted: (health: Health) => boolean,
): Promise<Health> {
  for (;;) {
    const now = await health(service);
    if (wanted(now)) return now;
    await delay(30);
  }
}

export async function startWarmService(
  env: Record<string, string> = {},
  overrides: ServiceOverrides = {},
): Promise<TestService> {
  const service = await startService(env, overrides);
  await healthUntil(service, ({ status }) => status === 200);
  return service;
}

export interface PostOptions {
  readonly fields?: Record<string, string>;
  readonly fileName?: string;
  readonly headers?: Record<string, string>;
}

/** Uploads an image as a form. Starts at once. */
export async function postImage(
  service: TestService,
  file: Uint8Array,
  { fields = {}, fileName = 'picture.jpg', headers = {} }: PostOptions = {},
): Promise<Response> {
  // With `filename` alone, the client would remove the folders.
  const name = { filename: fileName, filepath: fileName };
  return request(service.url)
    .post('/api/remove-background')
    .set(headers)
    .field(fields)
    .attach('file', Buffer.from(file), name);
}

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly errors?: { field: string; message: string }[];
}

/** Returns the problem in a response, after checking that it is one. */
export function problemOf(response: Response): Problem {
  expect(response.get('content-type')).toBe('application/problem+json');
  const problem = response.body as Problem;
  expect(problem.status).toBe(response.status);
  return problem;
}

const fakeInferenceScript = fileURLToPath(new URL('../fixtures/fake-inference.mjs', import.meta.url));

/**
 * Starts the service with a misbehaving inference process. Later processes may behave differently.
 * @param behaviour one of `fixtures/fake-inference.mjs`, or a file with its name, which is read for each job
 */
export function fakeInference(behaviour: string, later: string = behaviour): ServiceOverrides {
  let started = 0;
  return {
    command: () => ({
      file: process.execPath,
      args: [
        '--max-old-space-size=50',
        fakeInferenceScript,
        started++ === 0 ? behaviour : later,
        String(tinySize),
      ],
    }),
  };
}
