import { WeightsError } from '@media-services/model-setup';
import { defaultModelId, defaultModelsDir, locateModel } from './model/known-models.js';
import { ModelError } from './model/manifest.js';
import { setUpModel } from './model/set-up-model.js';
import { isUnchanged } from './model/verify-model.js';

const model = process.env['MODEL'] || defaultModelId;
const modelsDir = process.env['MODELS_DIR'] || defaultModelsDir;
const log = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Installs the model given by MODEL in MODELS_DIR (for set-up, image builds and scripts). Empty means the
 * default, as in the service. `--if-changed` skips a model that hasn't changed since it was installed,
 * without verifying it; `--check` only says whether there is one.
 */
try {
  const [option] = process.argv.slice(2);
  if (option !== undefined && (await isUnchanged(locateModel(model, modelsDir)))) log(model);
  else if (option === '--check') throw new ModelError(`${model} is not in ${modelsDir}`);
  else await setUpModel({ model, modelsDir, log });
} catch (error) {
  if (!(error instanceof ModelError || error instanceof WeightsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
