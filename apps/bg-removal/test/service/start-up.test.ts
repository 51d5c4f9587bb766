import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ConfigError,
  createLogger,
  createMetrics,
  loadConfig,
  thisMachine,
} from '@media-services/http-common';
import { configSchema } from '../../src/config.js';
import { MattingEngine } from '../../src/inference/matting-engine.js';
import { picture } from '../support/pictures.js';
import {
  health,
  healthUntil,
  postImage,
  problemOf,
  startService,
  type TestService,
} from '../support/service.js';
import { tinyModel, type TinyModel } from '../support/tiny-model.js';

let service: TestService | undefined;
let model: TinyModel | undefined;
afterEach(async () => {
  await service?.stop();
  await model?.remove();
  service = model = undefined;
});

/** Starts a service with an unusable model and returns the message from health. */
async function serviceFailure(folder: string): Promise<string> {
  service = await startService({ MODEL: folder });
  const { status, body } = await healthUntil(service, (now) => now.body.status === 'error');
  expect(status).toBe(503);
  const response = await postImage(service, await picture().png().toBuffer());
  expect(response.get('retry-after')).toBeDefined();
  expect(problemOf(response)).toMatchObject({ status: 503, code: 'engine_unavailable' });
  return String(body.checks['engine']?.['message']);
}

/** Starts the engine alone with an unusable model and returns the message from its health. */
async function failure(folder: string, env: Record<string, string> = {}): Promise<string> {
  const config = loadConfig(configSchema, { MODEL: folder, INFERENCE_DEVICE: 'cpu', ...env });
  await using engine = new MattingEngine({
    config,
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: createMetrics({ service: 'test', version: '0' }),
    capacity: { processes: 1, threadsPerProcess: 1 },
  });
  // With a broken network, this ends only when the engine is disposed of.
  engine.start().catch(() => undefined);
  while (engine.health().status !== 'error') await delay(10);
  return String(engine.health()['message']);
}

test('health is 503 and starting until the model is warm, then names the model, and the CPU if there is no GPU; stopping ends the processes', async () => {
  service = await startService({ INFERENCE_DEVICE: 'auto', INFERENCE_PROCESSES: '2' });
  const early = await health(service);
  expect(early.status).toBe(503);
  expect(early.body.status).toBe('starting');
  const { body } = await healthUntil(service, ({ status }) => status === 200);
  expect(body.checks['engine']).toMatchObject({
    status: 'ok',
    model: 'tiny-brightness',
    licence: 'MIT',
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    loadMs: expect.any(Number) as number,
    queueLength: 0,
    device: 'cpu',
    precision: 'fp32',
    processes: 2,
    threadsPerProcess: Math.max(1, Math.floor(thisMachine().cores / 2)),
  });

  const pids = service.enginePids();
  expect(pids).not.toEqual([]);
  await service.stop();
  service = undefined;
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('an unknown model is an error that lists the known ones', async () => {
  expect(await failure('no-such-model')).toMatch(/"no-such-model" is not known.*isnet-general-use/);
});

test('a folder without a manifest is an error; a model installed there later is loaded without a restart', async () => {
  model = await tinyModel();
  const manifest = path.join(model.folder, 'manifest.json');
  await rename(manifest, `${manifest}.later`);
  const message = await serviceFailure(model.folder);
  expect(message).toMatch(/no readable manifest\.json.*set-up/);
  expect(message).toContain('as soon as it exists');
  await rename(`${manifest}.later`, manifest);
  if (service === undefined) throw new Error('the service does not run');
  const { body } = await healthUntil(service, ({ status }) => status === 200);
  expect(body.checks['engine']).toMatchObject({ status: 'ok', model: 'tiny-brightness' });
});

test('an invalid manifest is an error that names every invalid part', async () => {
  model = await tinyModel({ activation: 'softmax', std: [1, 0, 1], inputSize: { width: 4, height: 64 } });
  const message = await failure(model.folder);
  for (const part of ['activation', 'std', 'inputSize.width']) expect(message).toContain(part);
});

test('a manifest with a path outside its folder', async () => {
  model = await tinyModel({
    files: { 'onnx/model.onnx': '0'.repeat(64), '../../etc/passwd': '0'.repeat(64) },
  });
  expect(await failure(model.folder)).toContain('outside the model folder');
});

test('a missing file', async () => {
  model = await tinyModel();
  await rm(path.join(model.folder, 'onnx', 'model.onnx'));
  expect(await failure(model.folder)).toMatch(/model\.onnx is missing/);
});

test('a file with another checksum', async () => {
  model = await tinyModel();
  await writeFile(path.join(model.folder, 'onnx', 'model.onnx'), 'something else');
  const sha256 = createHash('sha256').update('something else').digest('hex');
  expect(await failure(model.folder)).toContain(`has the SHA-256 ${sha256}, but should have`);
});

test('a file with the right checksum that is not a network', async () => {
  model = await tinyModel({}, Buffer.from('not a network'));
  expect(await failure(model.folder)).toMatch(/inference process does not start/);
});

test('a network without the output that the manifest names', async () => {
  model = await tinyModel({ outputName: 'alpha' });
  expect(await failure(model.folder)).toMatch(/inference process does not start/);
});

test('a manifest without a licence', async () => {
  model = await tinyModel({ licence: undefined });
  expect(await failure(model.folder)).toContain('licence');
});

test('an int8 graph that is not listed with its checksum', async () => {
  model = await tinyModel({ int8Graph: 'onnx/model_int8.onnx' });
  expect(await failure(model.folder)).toContain('onnx/model_int8.onnx');
});

test('rejects int8 for a model without an int8 graph', async () => {
  model = await tinyModel();
  expect(await failure(model.folder, { INFERENCE_PRECISION: 'int8' })).toMatch(/no int8 graph/);
});

test('fails if a requested GPU is missing, instead of using the CPU', async () => {
  model = await tinyModel();
  expect(await failure(model.folder, { INFERENCE_DEVICE: 'cuda' })).toMatch(
    /INFERENCE_DEVICE is cuda.*cannot run there/,
  );
});

test('every problem of the configuration is reported at once', () => {
  const read = () =>
    loadConfig(configSchema, {
      PORT: 'x',
      IMAGES_PER_MINUTE: '-1',
      IMAGE_MAX_BYTES: 'big',
      INFERENCE_PROCESSES: '0',
    });
  expect(read).toThrow(ConfigError);
  for (const name of ['PORT', 'IMAGES_PER_MINUTE', 'IMAGE_MAX_BYTES', 'INFERENCE_PROCESSES'])
    expect(read).toThrow(name);
});
