import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { attributeType, dataType, encodeModel, type OnnxModel } from '@media-services/onnx-int8';

export const tinySize = 64;

function float32(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(values).buffer);
}

/**
 * The smallest matting network: bright pixels are foreground. `sigmoid(40 × (mean of R, G, B −
 * 0.5))`, one convolution of 1×1.
 */
function brightnessNetwork(size = tinySize): OnnxModel {
  const image = (name: string, channels: number) => ({
    name,
    type: {
      tensorType: {
        elemType: dataType.float32,
        shape: { dim: [1, channels, size, size].map((dimValue) => ({ dimValue })) },
      },
    },
  });
  return {
    irVersion: 8,
    producerName: 'bg-removal-tests',
    opsetImport: [{ domain: '', version: 15 }],
    graph: {
      name: 'brightness',
      input: [image('image', 3)],
      output: [image('mask', 1)],
      initializer: [
        {
          name: 'weight',
          dims: [1, 3, 1, 1],
          dataType: dataType.float32,
          rawData: float32([40 / 3, 40 / 3, 40 / 3]),
        },
        { name: 'bias', dims: [1], dataType: dataType.float32, rawData: float32([-20]) },
      ],
      node: [
        {
          opType: 'Conv',
          input: ['image', 'weight', 'bias'],
          output: ['logits'],
          attribute: [{ name: 'kernel_shape', type: attributeType.ints, ints: [1, 1] }],
        },
        { opType: 'Sigmoid', input: ['logits'], output: ['mask'] },
      ],
    },
  };
}

export interface TinyModel {
  readonly folder: string;
  readonly manifest: Record<string, unknown>;
  remove(): Promise<void>;
}

/** A model folder with {@link brightnessNetwork} and its manifest, merged with `changes`. */
export async function tinyModel(
  changes: Record<string, unknown> = {},
  graph?: Uint8Array,
): Promise<TinyModel> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tiny-model-'));
  await mkdir(path.join(folder, 'onnx'));
  const bytes = graph ?? encodeModel(brightnessNetwork());
  await writeFile(path.join(folder, 'onnx', 'model.onnx'), bytes);
  const manifest = {
    id: 'tiny-brightness',
    source: { kind: 'folder' },
    licence: 'MIT',
    graph: 'onnx/model.onnx',
    files: { 'onnx/model.onnx': createHash('sha256').update(bytes).digest('hex') },
    inputSize: { width: tinySize, height: tinySize },
    mean: [0, 0, 0],
    std: [1, 1, 1],
    activation: 'none',
    outputName: 'mask',
    ...changes,
  };
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  return { folder, manifest, remove: () => rm(folder, { recursive: true, force: true }) };
}
