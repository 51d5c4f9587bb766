import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The folders of the workspace's packages, relative to the root, in the order of
 * pnpm-workspace.yaml with shared packages first: what others build on fails first.
 */
export function workspaceFolders(root) {
  const folders = patternsOf(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')).flatMap((pattern) =>
    pattern.endsWith('/*') ? foldersIn(root, pattern.slice(0, -2)) : [pattern],
  );
  const isPackage = (folder) => existsSync(join(root, folder, 'package.json'));
  const isShared = (folder) => folder.startsWith('packages/');
  return folders.filter(isPackage).sort((left, right) => Number(isShared(right)) - Number(isShared(left)));
}

function foldersIn(root, parent) {
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${parent}/${entry.name}`);
}

/** The list under `packages:`; the rest of the file is pnpm's own. */
function patternsOf(yaml) {
  const [, list = ''] = /^packages:\n((?:[ \t]+- .*\n)+)/m.exec(yaml) ?? [];
  return [...list.matchAll(/- ['"]?([^'"\n]+?)['"]?$/gm)].map(([, pattern]) => pattern);
}
