import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';
import { shippedParts } from './build.mjs';

/**
 * `run`: what `npm start` needs to build and run. `all`: also the tools for tests. `ffprobe`:
 * also the ffprobe that set-up uses if no package manager provides one.
 * @typedef {'run' | 'ffprobe' | 'all'} DependencySet
 */

/** @type {Record<DependencySet, readonly string[]>} */
const pnpmOptions = {
  run: runOptions(),
  ffprobe: [...runOptions(), '--filter-prod=@media-services/ffprobe-download'],
  all: [],
};

function runOptions() {
  const parts = shippedParts.map((name) => `--filter-prod=@media-services/${name}...`);
  return ['--prod', '--filter=media-services', ...parts];
}

/** @type {(root: string, set: DependencySet) => string} */
const stampFile = (root, set) => join(root, 'node_modules', `.set-up-stamp-${set}`);

/**
 * A hash that changes when the required dependencies change.
 * @param {string} root
 */
export function dependenciesHash(root) {
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
    hash.update(readFileSync(join(root, name)));
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {DependencySet} [set]
 */
export function dependenciesAreCurrent(root, set = 'run') {
  const hash = dependenciesHash(root);
  const isInstalled = (/** @type {DependencySet} */ each) => {
    const stamp = stampFile(root, each);
    return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
  };
  return isInstalled('all') || isInstalled(set) || (set === 'run' && isInstalled('ffprobe'));
}

/**
 * Installs the dependencies from the lockfile. Skips the install if they are current.
 * @param {{ root: string, env: NodeJS.ProcessEnv, log: (line: string) => void, set: DependencySet }} options
 */
export async function installDependencies({ root, env, log, set }) {
  if (dependenciesAreCurrent(root, set)) return 'up to date';
  // Keep test tools that are already installed.
  if (set !== 'all' && existsSync(stampFile(root, 'all')))
    return installDependencies({ root, env, log, set: 'all' });
  const { code, output } = await runCommand(
    'pnpm',
    ['install', '--frozen-lockfile', '--reporter=append-only', ...pnpmOptions[set]],
    {
      cwd: root,
      // CI mode never prompts.
      env: { ...env, CI: 'true' },
      onLine: log,
    },
  );
  if (code !== 0) {
    throw new UserError(`The dependencies could not be installed:\n${tailOf(output)}`);
  }
  removeOtherPlatforms(root);
  for (const each of /** @type {const} */ (['run', 'ffprobe', 'all']))
    rmSync(stampFile(root, each), { force: true });
  writeFileSync(stampFile(root, set), dependenciesHash(root));
  return '';
}

/**
 * Removes onnxruntime's binaries for other platforms: 245 of 290 MB.
 * @param {string} root
 */
export function removeOtherPlatforms(root) {
  const store = join(root, 'node_modules', '.pnpm');
  const packages = existsSync(store) ? readdirSync(store) : [];
  for (const name of packages.filter((each) => each.startsWith('onnxruntime-node@'))) {
    const binaries = join(store, name, 'node_modules', 'onnxruntime-node', 'bin');
    for (const platform of foldersBelow(binaries, 3)) {
      if (!platform.endsWith(join(process.platform, process.arch))) rmSync(platform, { recursive: true });
    }
  }
}

/**
 * @param {string} folder
 * @param {number} depth
 * @returns {readonly string[]}
 */
function foldersBelow(folder, depth) {
  if (depth === 0) return [folder];
  return readdirSync(folder).flatMap((name) => foldersBelow(join(folder, name), depth - 1));
}
