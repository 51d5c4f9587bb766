import path from 'node:path';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ModelLocation } from './known-models.js';
import { manifestFileName, ModelError, type ModelManifest, readManifest } from './manifest.js';

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

/**
 * Whether an installed model is the pinned one, and each of its files is older than the manifest,
 * which set-up writes last. Takes no time, unlike {@link verifyModel}, but misses what a damaged disk
 * has changed.
 */
export async function isUnchanged({ folder, known }: ModelLocation): Promise<boolean> {
  try {
    const { files } = await readManifest(folder);
    const timeOf = async (name: string) => (await stat(path.join(folder, name))).mtimeMs;
    const [installedAt, ...times] = await Promise.all([manifestFileName, ...Object.keys(files)].map(timeOf));
    const isPinned = Object.entries(known?.pinned ?? {}).every(([name, sha256]) => files[name] === sha256);
    return isPinned && times.every((time) => time <= (installedAt ?? 0));
  } catch {
    return false; // verifyModel says why
  }
}

/** SHA-256 of a file in lower-case hexadecimal, without loading the file into memory. */
async function fileSha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}
