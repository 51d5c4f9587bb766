import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { knownModels, type KnownModel } from './known-models.js';
import { ModelError } from './model-error.js';

/** Where models are when MODELS_DIR does not say otherwise: `models/` of this package. */
export const defaultModelsDir = fileURLToPath(new URL('../../models', import.meta.url));

export interface ModelLocation {
  readonly folder: string;
  /** Absent for a folder of the operator's own. */
  readonly known?: KnownModel;
}

/**
 * Resolves the setting MODEL: the id of a known model, or the path of a folder
 * with a manifest (absolute, or starting with a dot).
 * @throws ModelError naming the known ids
 */
export function locateModel(model: string, modelsDir: string): ModelLocation {
  if (path.isAbsolute(model) || model.startsWith('.')) return { folder: path.resolve(model) };
  const known = knownModels.find(({ id }) => id === model);
  if (known === undefined) {
    const ids = knownModels.map(({ id }) => id).join(', ');
    throw new ModelError(`MODEL "${model}" is not known. Use one of ${ids}, or the path of a model folder.`);
  }
  return { folder: path.join(modelsDir, known.id), known };
}
