import path from 'node:path';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { ModelLocation } from './known-models.js';
import { ModelError, type ModelManifest, readManifest } from './manifest.js';

/** A model whose files are complete and intact. */
export interface VerifiedModel {
  readonly folder: string;
  readonly manifest: ModelManifest;
}

/**
 * Verifies the SHA-256 of every file of an installed model.
 * @throws ModelError naming the missing or changed file and how to fix it
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

/** SHA-256 of a file in lower-case hexadecimal, without loading the file into memory. */
async function fileSha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}
