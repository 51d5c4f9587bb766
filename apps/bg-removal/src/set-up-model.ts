import { WeightsError } from '@media-services/model-setup';
import { defaultModelId, defaultModelsDir } from './model/known-models.js';
import { ModelError } from './model/manifest.js';
import { setUpModel } from './model/set-up-model.js';

/** Installs the model given by MODEL in MODELS_DIR (for image builds and scripts). Empty means the default, as in the service. */
try {
  await setUpModel({
    model: process.env['MODEL'] || defaultModelId,
    modelsDir: process.env['MODELS_DIR'] || defaultModelsDir,
    log: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  if (!(error instanceof ModelError || error instanceof WeightsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
