import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { installModel } from '@media-services/model-setup';
import { locateModel, manifestBase } from './known-models.js';
import { manifestFileName, ModelError, type ModelManifest } from './manifest.js';
import { verifyModel, type VerifiedModel } from './verify-model.js';

export interface SetUpOptions {
  /** The setting MODEL. */
  readonly model: string;
  readonly modelsDir: string;
  readonly log: (line: string) => void;
}

/**
 * Installs the model named by MODEL, unless it is already intact. The new folder is moved into
 * place with one rename, so that an interrupted set-up leaves no partial model.
 * @throws ModelError
 * @throws WeightsError
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
  await emptyFolder(partial);
  const files = await installModel(known, partial, {
    downloadsDir: path.join(modelsDir, '.downloads'),
    log,
  });
  const manifest: ModelManifest = { ...manifestBase(known), files };
  await writeFile(path.join(partial, manifestFileName), `${JSON.stringify(manifest, null, 2)}\n`);
  await rm(folder, { recursive: true, force: true });
  await rename(partial, folder);
  const verified = await verifyModel(location);
  log(`The model ${known.id} is installed. ${licenceNotice(verified.manifest)}`);
  return verified;
}

async function emptyFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new ModelError(
      `The model cannot be installed (${String(error)}). The folder or volume must be writable for user ${process.getuid?.() ?? 'of this process'}.`,
      { cause: error },
    );
  }
}

function licenceNotice({ licence }: ModelManifest): string {
  return licence === 'unstated'
    ? 'The licence of its weights is unknown: clarify it before commercial use, or choose another MODEL (docs/models.md).'
    : `The licence of its weights is ${licence}.`;
}
