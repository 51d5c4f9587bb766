/**
 * Measures how large the default network's channels get, for its int8 graph:
 * `npm run bench -- activations PICTURES/calibration` (see pictures.ts). The pictures and one
 * generated scene of each group pass through the single-precision network; the result is
 * `packages/onnx-int8/data/isnet-general-use.json`.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '@media-services/stack/set-up';
import * as ort from 'onnxruntime-node';
import sharp, { type Sharp } from 'sharp';
import { defaultModelsDir } from '@media-services/bg-removal/dist/model/known-models.js';
import { decodeModel, encodeModel, exposeActivations, MagnitudeMeter } from '@media-services/onnx-int8';
import { makeScene, sceneList } from './matting/scenes.js';

const { positionals } = parseArgs({ allowPositionals: true });
const [folder] = positionals;
if (folder === undefined) throw new Error('Usage: name the folder with the images.');
const name = 'isnet-general-use';
const size = 1024;

async function* pictures(from: string): AsyncGenerator<{ file: string; image: Sharp }> {
  for (const file of (await readdir(from)).sort()) yield { file, image: sharp(path.join(from, file)) };
  for (const spec of sceneList('small')) {
    // Different scenes than those used to measure quality.
    const { composite, width, height } = await makeScene({ ...spec, seed: spec.seed + 9000 });
    const image = sharp(composite, { raw: { width, height, channels: 3 } });
    yield { file: `generated scene: ${spec.group} on ${spec.background}`, image };
  }
}

/** The network's input as the service makes it, then `value / 255 - 0.5` in planes. */
async function input(image: Sharp): Promise<ort.Tensor> {
  const rgb = await image
    .autoOrient()
    .toColourspace('srgb')
    .flatten({ background: '#ffffff' })
    .removeAlpha()
    .resize(size, size, { fit: 'fill', kernel: 'lanczos3' })
    .raw()
    .toBuffer();
  const planes = new Float32Array(rgb.length);
  for (const [i, value] of rgb.entries()) {
    planes[(i % 3) * size * size + Math.floor(i / 3)] = value / 255 - 0.5;
  }
  return new ort.Tensor('float32', planes, [1, 3, size, size]);
}

const model = decodeModel(await readFile(path.join(defaultModelsDir, name, 'onnx', 'model.onnx')));
const tensors = exposeActivations(model);
const session = await ort.InferenceSession.create(encodeModel(model), { logSeverityLevel: 3 });
const [inputName] = session.inputNames;
if (inputName === undefined) throw new Error('the network has no input');
const meter = new MagnitudeMeter();
const measuredOn: string[] = [];
for await (const { file, image } of pictures(folder)) {
  const outputs = await session.run({ [inputName]: await input(image) });
  for (const tensor of tensors) {
    const output = outputs[tensor];
    if (!(output?.data instanceof Float32Array))
      throw new Error(`${tensor} is not a single-precision tensor`);
    meter.add(tensor, output.data, output.dims[1] ?? NaN);
    output.dispose();
  }
  measuredOn.push(file);
  process.stderr.write(`${file}\n`);
}
const magnitudes = Object.fromEntries(
  Object.entries(meter.magnitudes()).map(([tensor, channels]) => [
    tensor,
    channels.map((magnitude) => Number(magnitude.toPrecision(4))),
  ]),
);
await writeFile(
  path.join(root, 'packages/onnx-int8/data', `${name}.json`),
  `${JSON.stringify({ measuredOn, magnitudes }, null, 2)}\n`,
);
