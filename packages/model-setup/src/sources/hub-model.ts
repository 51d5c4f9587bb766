import { mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  type HubSource,
  type InstalledFiles,
  type ModelRecipe,
  type Preprocessing,
  WeightsError,
  writeInstalled,
} from '../recipe.js';
import { download, type DownloadOptions } from './download.js';

const publicHub = 'https://huggingface.co';
const configFiles = ['config.json', 'preprocessor_config.json'];
const channels = z.array(z.number()).length(3);
/** The fields of a transformers.js image processor that come from `preprocessor_config.json`. */
const processorSchema = z.object({
  do_normalize: z.boolean().optional(),
  image_mean: channels.optional(),
  image_std: channels.optional(),
  size: z.looseObject({ width: z.int().optional(), height: z.int().optional() }).optional(),
});

/**
 * Downloads a model from the hub at its pinned commit into `folder`. transformers.js parses its
 * configuration and preprocessing, which must match the recipe. We verify the graph's SHA-256
 * before opening it.
 * @throws WeightsError if the hub can't be reached or the model differs from the recipe
 */
export async function fetchHubModel(
  recipe: ModelRecipe,
  source: HubSource,
  folder: string,
  options: DownloadOptions & { readonly downloadsDir: string },
): Promise<InstalledFiles> {
  const hub = (process.env['HF_ENDPOINT'] ?? publicHub).replace(/(?<!\/)\/+$/, '');
  const cacheDir = await mkdtemp(path.join(path.dirname(folder), 'hub-'));
  try {
    await readConfiguration(hub, recipe, source, cacheDir);
    const files: InstalledFiles = {};
    for (const name of configFiles) {
      const cached = path.join(cacheDir, source.repository, source.revision, name);
      files[name] = await writeInstalled(folder, name, await readFile(cached));
    }
    const graph = path.join(options.downloadsDir, `${source.sha256}.onnx`);
    const url = `${hub}/${source.repository}/resolve/${source.revision}/${source.file}`;
    options.log(`Downloading ${source.repository} at ${source.revision.slice(0, 12)} …`);
    await download(url, graph, { algorithm: 'sha256', encoding: 'hex', value: source.sha256 }, options);
    files[recipe.graph] = await writeInstalled(folder, recipe.graph, await readFile(graph));
    await rm(graph);
    return files;
  } finally {
    await rm(cacheDir, { recursive: true, force: true });
  }
}

async function readConfiguration(
  hub: string,
  recipe: ModelRecipe,
  { repository, revision }: HubSource,
  cacheDir: string,
): Promise<void> {
  // Loaded lazily: it is the largest dependency, and only hub models need it.
  const { AutoConfig, AutoImageProcessor, env } = await import('@xenova/transformers');
  env.remoteHost = `${hub}/`;
  let processor: object;
  try {
    const from = { cache_dir: cacheDir, revision };
    await AutoConfig.from_pretrained(repository, from);
    processor = await AutoImageProcessor.from_pretrained(repository, from);
  } catch (cause) {
    throw new WeightsError(
      `The configuration of ${repository} could not be downloaded from ${hub}. Check that it is reachable, or set HF_ENDPOINT to a mirror. Without internet access, copy the model's folder from another machine (see docs/models.md).`,
      { cause },
    );
  }
  const differences = listDifferences(recipe, processorSchema.parse(fieldsOf(processor)));
  if (differences.length > 0) {
    throw new WeightsError(
      `The preprocessing of ${repository} differs from what this version expects: ${differences.join('; ')}.`,
    );
  }
}

/** Reads the fields of a processor, which is a function with properties. */
function fieldsOf(processor: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(processorSchema.shape).map((name) => [name, Reflect.get(processor, name)]),
  );
}

function listDifferences(
  { inputSize, mean, std }: Preprocessing,
  processor: z.output<typeof processorSchema>,
): string[] {
  const normalised = processor.do_normalize !== false;
  const { width, height } = processor.size ?? {};
  const pairs: [string, unknown, unknown][] = [
    ['mean', mean, normalised ? (processor.image_mean ?? mean) : [0, 0, 0]],
    ['std', std, normalised ? (processor.image_std ?? std) : [1, 1, 1]],
    ...(width === undefined || height === undefined
      ? []
      : ([['size', [inputSize.width, inputSize.height], [width, height]]] as [string, unknown, unknown][])),
  ];
  return pairs
    .filter(([, expected, actual]) => JSON.stringify(expected) !== JSON.stringify(actual))
    .map(
      ([name, expected, actual]) =>
        `${name} ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
    );
}
