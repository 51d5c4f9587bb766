import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Installs the model named by MODEL (default: the ISNet weights) for bg-removal and verifies
 * its SHA-256. Skips a model that is already intact. Requires the built service, which contains
 * the installer.
 * @param {{ root: string, log: (line: string) => void }} options
 */
export async function setUpModel({ root, log }) {
  const dist = path.join(root, 'apps', 'bg-removal', 'dist');
  if (!existsSync(path.join(dist, 'model'))) {
    throw new Error('bg-removal is not built yet: build first (npm run build), then set up the model.');
  }
  const load = (/** @type {string} */ file) => import(pathToFileURL(path.join(dist, file)).href);
  const { setUpModel: install } = await load('model/set-up-model.js');
  const { defaultModelId, defaultModelsDir } = await load('model/known-models.js');
  await install({
    model: process.env.MODEL || defaultModelId,
    modelsDir: process.env.MODELS_DIR || defaultModelsDir,
    log,
  });
}
