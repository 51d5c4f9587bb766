import path from 'node:path';
import { type ModelManifest, readManifest } from './manifest.js';
import type { ModelLocation } from './locate-model.js';
import { ModelError } from './model-error.js';
import { fileSha256 } from './sha256.js';

/** A model whose files are there and are what they should be. */
export interface VerifiedModel {
  readonly folder: string;
  readonly manifest: ModelManifest;
}

/**
 * Checks every file of an installed model against its SHA-256.
 * @throws ModelError that names the missing or changed file and the way out
 */
export async function verifyModel({ folder, known }: ModelLocation): Promise<VerifiedModel> {
  const manifest = await readManifest(folder);
  const remedy =
    known === undefined
      ? 'Restore the file, or correct the SHA-256 in manifest.json.'
      : `Remove ${folder} and run the set-up again (npm run setup).`;
  for (const [name, expected] of Object.entries(manifest.files)) {
    let actual: string;
    try {
      actual = await fileSha256(path.join(folder, name));
    } catch (cause) {
      throw new ModelError(`The model file ${path.join(folder, name)} is missing or unreadable. ${remedy}`, {
        cause,
      });
    }
    const pinned = known?.pinned[name];
    if (actual !== expected || (pinned !== undefined && actual !== pinned)) {
      throw new ModelError(
        `The model file ${path.join(folder, name)} has the SHA-256 ${actual}, but should have ${pinned ?? expected}. ${remedy}`,
      );
    }
  }
  return { folder, manifest };
}
