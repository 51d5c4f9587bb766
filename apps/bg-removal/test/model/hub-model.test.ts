import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { installModel, WeightsError } from '@media-services/model-setup';
import { manifestBase, type KnownModel } from '../../dist/model/known-models.js';
import { picture, pixelsOf } from '../support/pictures.js';
import { health, postImage, startWarmService } from '../support/service.js';
import { tinyModel, tinySize } from '../support/tiny-model.js';

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

/** Installs the small network from the hub, as set-up does it, and gives its folder. */
async function install(sha256: string): Promise<string> {
  const model: KnownModel = {
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
  };
  const folder = await mkdtemp(path.join(place, 'model-'));
  const downloadsDir = path.join(place, 'downloads');
  await mkdir(downloadsDir, { recursive: true });
  const installed = await installModel(model, folder, { downloadsDir, log: () => undefined });
  const manifest = { ...manifestBase(model), files: installed };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return folder;
}

test('a model of a hub cuts out an image, from its pinned commit to the PNG', async () => {
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

test('a model of a hub that is not the pinned one is not installed', async () => {
  await expect(install('0'.repeat(64))).rejects.toThrow(WeightsError);
});
