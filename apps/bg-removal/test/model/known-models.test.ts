import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { installModel, WeightsError } from '@media-services/model-setup';
import parseSpdx from 'spdx-expression-parse';
import { type KnownModel, knownModels, manifestBase } from '../../src/model/known-models.js';
import { manifestSchema, ModelError } from '../../src/model/manifest.js';
import { setUpModel } from '../../src/model/set-up-model.js';
import { isUnchanged } from '../../src/model/verify-model.js';
import { picture, pixelsOf } from '../support/pictures.js';
import { health, postImage, startWarmService } from '../support/service.js';
import { tinyModel, tinySize } from '../support/tiny-model.js';

test.each(knownModels.map((model) => [model.id, model] as const))(
  '%s says its licence, and its weights are pinned by checksum and version',
  (_, { licence, source, graph, pinned }) => {
    if (licence !== 'unstated') expect(() => parseSpdx(licence)).not.toThrow();
    expect(source).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    if (source.kind === 'hub') {
      expect(source.revision).toMatch(/^[0-9a-f]{40}$/);
      expect(pinned[graph]).toBe(source.sha256);
    } else {
      expect(source.integrity).toMatch(/^sha512-/);
    }
  },
);

test.each(['', 'free to use', 'Apache 2', 'check before commercial use (see NOTICE)'])(
  'rejects a manifest with the licence "%s"',
  (licence) => {
    expect(manifestSchema.shape.licence.safeParse(licence).success).toBe(false);
  },
);

test.each(['unstated', 'MIT', 'Apache-2.0 OR MIT', 'LicenseRef-own'])(
  'accepts the licence "%s"',
  (licence) => {
    expect(manifestSchema.shape.licence.safeParse(licence).success).toBe(true);
  },
);

it('reports a models folder that is not writable before downloading anything', async () => {
  const place = await mkdtemp(path.join(os.tmpdir(), 'models-'));
  const modelsDir = path.join(place, 'models');
  await writeFile(modelsDir, 'a file where the folder should be');
  const installing = setUpModel({ model: 'isnet-general-use', modelsDir, log: () => undefined });
  await expect(installing).rejects.toThrow(ModelError);
  await expect(installing).rejects.toThrow(
    /cannot be installed \(.*ENOTDIR.*\)\. The folder.* must be writable for user/,
  );
  await rm(place, { recursive: true });
});

it('installs the default model if MODEL is empty', async () => {
  const script = fileURLToPath(new URL('../../dist/set-up-model.js', import.meta.url));
  const env = { ...process.env, MODEL: '', MODELS_DIR: script };
  const { stdout, stderr } = await execa(process.execPath, [script], { env, reject: false });
  expect(stdout).toBe('Installing the model isnet-general-use …');
  expect(stderr).toContain('ENOTDIR');
});

const repository = 'someone/brightness';
const revision = '0123456789abcdef0123456789abcdef01234567';
const graph = 'onnx/model.onnx';
const size = { width: tinySize, height: tinySize };

let place: string;
let bytes: Buffer;
const files = new Map<string, Buffer | string>();
const server = createServer(({ url = '' }, response) => {
  const file = files.get(url);
  if (file === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-length': Buffer.byteLength(file) }).end(file);
});

beforeAll(async () => {
  place = await mkdtemp(path.join(os.tmpdir(), 'hub-model-'));
  const tiny = await tinyModel();
  bytes = await readFile(path.join(tiny.folder, graph));
  await tiny.remove();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env['HF_ENDPOINT'] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const base = `/${repository}/resolve/${revision}`;
  files.set(`${base}/config.json`, JSON.stringify({ model_type: 'isnet' }));
  files.set(
    `${base}/preprocessor_config.json`,
    JSON.stringify({ image_processor_type: 'ImageFeatureExtractor', do_normalize: false, size }),
  );
  files.set(`${base}/${graph}`, bytes);
});
afterAll(async () => {
  delete process.env['HF_ENDPOINT'];
  server.closeAllConnections();
  server.close();
  await rm(place, { recursive: true, force: true });
});

const recipe = (sha256: string): KnownModel => ({
  id: repository,
  source: { kind: 'hub', repository, revision, file: graph, sha256 },
  licence: 'MIT',
  graph,
  pinned: { [graph]: sha256 },
  inputSize: size,
  mean: [0, 0, 0],
  std: [1, 1, 1],
  activation: 'none',
  outputName: 'mask',
});

/** Installs the small network from the hub like set-up does. Returns its folder. */
async function install(sha256: string): Promise<string> {
  const model = recipe(sha256);
  const folder = await mkdtemp(path.join(place, 'model-'));
  const downloadsDir = path.join(place, 'downloads');
  await mkdir(downloadsDir, { recursive: true });
  const installed = await installModel(model, folder, { downloadsDir, log: () => undefined });
  const manifest = { ...manifestBase(model), files: installed };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

test('a hub model installed from its pinned commit cuts out an image', async () => {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const service = await startWarmService({ MODEL: await install(sha256) });
  try {
    const { body } = await health(service);
    expect(body.checks['engine']).toMatchObject({ model: repository, licence: 'MIT', sha256 });
    const answer = await postImage(service, await picture().png().toBuffer());
    const pixels = await pixelsOf(answer.body as Buffer);
    expect(pixels.at(32, 32).alpha).toBe(255);
    expect(pixels.at(90, 60).alpha).toBe(0);
  } finally {
    await service.stop();
  }
});

test('a hub model with a different checksum is not installed', async () => {
  await expect(install('0'.repeat(64))).rejects.toThrow(WeightsError);
});

describe('an installed model', () => {
  let folder: string;
  let known: KnownModel;
  beforeEach(async () => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    folder = await install(sha256);
    known = recipe(sha256);
    expect(await isUnchanged({ folder, known })).toBe(true);
  });

  it('has changed if a file is newer than the manifest', async () => {
    const later = new Date(Date.now() + 60_000);
    await utimes(path.join(folder, graph), later, later);
    expect(await isUnchanged({ folder, known })).toBe(false);
  });

  it.each([graph, 'manifest.json'])('has changed if %s is missing', async (name) => {
    await rm(path.join(folder, name));
    expect(await isUnchanged({ folder, known })).toBe(false);
  });

  it('has changed if another version is pinned', async () => {
    expect(await isUnchanged({ folder, known: recipe('0'.repeat(64)) })).toBe(false);
  });
});
