import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Full path of a program on PATH or in one of the extra folders; undefined where it is not.
 * @param {string} name
 * @param {readonly string[]} extraFolders
 */
export function findExecutable(name, extraFolders = [], env = process.env) {
  const folders = [...(env.PATH ?? '').split(delimiter), ...extraFolders];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Not there or not ours to run: the next folder may have it.
    return false;
  }
}
