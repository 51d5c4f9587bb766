import { WeightsError } from '@media-services/model-setup';
import { defaultModelId } from './model/known-models.js';
import { defaultModelsDir } from './model/locate-model.js';
import { ModelError } from './model/model-error.js';
import { setUpModel } from './model/set-up-model.js';

/** Installs the model of the environment's MODEL in MODELS_DIR (image builds, scripts). */
try {
  await setUpModel({
    model: process.env['MODEL'] ?? defaultModelId,
    modelsDir: process.env['MODELS_DIR'] ?? defaultModelsDir,
    log: (line) => process.stdout.write(`${line}\n`),
  });
} catch (error) {
  if (!(error instanceof ModelError || error instanceof WeightsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
