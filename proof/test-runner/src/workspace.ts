import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of the workspace's packages, relative to the root, in the order of pnpm-workspace.yaml. */
function workspaceFolders(root: string): string[] {
  const folders = patternsOf(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')).flatMap((pattern) =>
    pattern.endsWith('/*') ? foldersIn(root, pattern.slice(0, -2)) : [pattern],
  );
  return folders.filter((folder) => existsSync(join(root, folder, 'package.json')));
}

/** The folders of packages with tests. */
export function testedFolders(root: string): string[] {
  return workspaceFolders(root).filter((folder) => hasTests(join(root, folder, 'test')));
}

function foldersIn(root: string, parent: string): string[] {
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${parent}/${entry.name}`);
}

function hasTests(folder: string): boolean {
  if (!existsSync(folder)) return false;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((file) => file.endsWith('.test.ts'));
}

/** The list under `packages:`. */
function patternsOf(yaml: string): string[] {
  const lines = yaml.split('\n');
  const first = lines.indexOf('packages:') + 1;
  const end = lines.findIndex((line, index) => index >= first && !/^\s+- /.test(line));
  return lines.slice(first, end === -1 ? undefined : end).map((line) => line.replace(/^\s+- /, '').trim());
}
