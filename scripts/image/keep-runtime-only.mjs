/**
 * Shrinks the output of `pnpm deploy --prod` to what the service loads. Removes the given
 * packages and their exclusive dependencies, other platforms' binaries, and files for editors.
 *
 *   node keep-runtime-only.mjs <folder> [package to drop…]
 */
import { existsSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';

const [folder, ...dropped] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: keep-runtime-only.mjs <folder> [package…]');
const root = realpathSync(folder);
const editorFile = /\.(map|md|markdown)$|\.d\.[cm]?ts$/;
const licence = /^(licen[cs]e|notice|copying)/i;
const store = join(root, 'node_modules', '.pnpm');

dropUnreachable();
dropOtherPlatforms();
dropEditorFiles(join(root, 'node_modules'));

/** Removes the virtual store's folders that the service doesn't depend on. */
function dropUnreachable() {
  const reached = new Set();
  const waiting = [join(root, 'node_modules')];
  for (let modules = waiting.pop(); modules !== undefined; modules = waiting.pop()) {
    for (const link of linksIn(modules)) {
      if (dropped.some((name) => link.endsWith(join(sep, 'node_modules', name)))) {
        rmSync(link);
        continue;
      }
      const target = realpathSync(link);
      const entry = target.startsWith(store + sep) ? target.slice(store.length + 1).split(sep)[0] : undefined;
      if (entry === undefined || reached.has(entry)) continue;
      reached.add(entry);
      waiting.push(join(store, entry, 'node_modules'));
    }
  }
  for (const entry of readdirSync(store)) {
    if (!reached.has(entry)) rmSync(join(store, entry), { recursive: true });
  }
}

/**
 * Links to packages in a node_modules folder, including scoped ones.
 * @param {string} modules
 */
function linksIn(modules) {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(modules, name))
    .flatMap((path) =>
      lstatSync(path).isDirectory() ? readdirSync(path).map((name) => join(path, name)) : path,
    )
    .filter((path) => lstatSync(path).isSymbolicLink());
}

/** onnxruntime-node contains the binaries of all platforms. */
function dropOtherPlatforms() {
  const binaries = join(root, 'node_modules', 'onnxruntime-node', 'bin');
  if (!existsSync(binaries)) return;
  for (const api of readdirSync(binaries)) {
    for (const platform of readdirSync(join(binaries, api))) {
      for (const architecture of readdirSync(join(binaries, api, platform))) {
        if (platform === process.platform && architecture === process.arch) continue;
        rmSync(join(binaries, api, platform, architecture), { recursive: true });
      }
    }
  }
}

/** @param {string} path */
function dropEditorFiles(path) {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) dropEditorFiles(child);
    else if (editorFile.test(entry.name) && !licence.test(entry.name)) rmSync(child);
  }
}
