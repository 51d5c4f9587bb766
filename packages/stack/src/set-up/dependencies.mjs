import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectManifest, toolsDir } from './project.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { UserError } from './user-error.mjs';

/** @typedef {(line: string) => void} Log */

const { packageManager } = projectManifest;
const pnpmPrefix = join(toolsDir, packageManager.replace('@', '-'));
/** The folder of the pinned pnpm, whether or not it is installed. */
export const pnpmFolder = join(pnpmPrefix, 'node_modules', '.bin');

/**
 * Installs the pinned pnpm version into this checkout; installs nothing globally.
 * @param {Log} log
 */
export async function ensurePnpm(log) {
  // npm links the program last, so that an interrupted installation is repeated.
  if (existsSync(join(pnpmFolder, 'pnpm'))) return;
  mkdirSync(pnpmPrefix, { recursive: true });
  // Without its own package.json, npm would search the parent folders.
  writeFileSync(join(pnpmPrefix, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--prefix', pnpmPrefix, '--no-audit', '--no-fund', '--no-save', packageManager];
  const { code, output } = await runCommand('npm', args, { cwd: pnpmPrefix, onLine: log });
  if (code !== 0) {
    throw new UserError(
      `${packageManager} could not be installed with npm. Check the network and npm's registry setting, then try again.\n${tailOf(output)}`,
    );
  }
}

/** The packages that `npm start` runs. All others support or test them. */
const shippedParts = ['video-dl', 'bg-removal', 'gateway', 'stack'];

/** pnpm's options for what `npm start` needs to build and run (`run`), and for the tools of tests too (`all`). */
const pnpmOptions = {
  run: [
    // By default, pnpm asks the registry for the age of every locked version, which takes longer than the
    // downloads. Development and CI keep that check. Here, the hashes in the lockfile are enough.
    '--config.trustLockfile=true',
    ...['--prod', '--filter=media-services'],
    ...shippedParts.map((name) => `--filter-prod=@media-services/${name}...`),
  ],
  all: [],
};

/** @typedef {keyof typeof pnpmOptions} DependencySet */

/** Contains the installed set and the hash of what it was installed from. */
const stampFile = (/** @type {string} */ root) => join(root, 'node_modules', '.set-up-stamp');

/** @param {string} root */
function readStamp(root) {
  const file = stampFile(root);
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ') : [];
}

/** @param {string} root */
function dependenciesHash(root) {
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])
    hash.update(readFileSync(join(root, name)));
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @param {DependencySet} [set]
 */
export function dependenciesAreCurrent(root, set = 'run') {
  const [installed, hash] = readStamp(root);
  return hash === dependenciesHash(root) && (installed === set || installed === 'all');
}

/**
 * Records that a set is installed.
 * @param {string} root
 * @param {DependencySet} set
 */
export function stampDependencies(root, set) {
  writeFileSync(stampFile(root), `${set} ${dependenciesHash(root)}`);
}

/**
 * Installs the dependencies from the lockfile. Skips the install if they are current.
 * @param {{ root: string, env: NodeJS.ProcessEnv, log: Log, set: DependencySet }} options
 */
export async function installDependencies({ root, env, log, set }) {
  if (dependenciesAreCurrent(root, set)) return 'up to date';
  // Keep test tools that are already installed.
  const wanted = readStamp(root)[0] === 'all' ? 'all' : set;
  const { code, output } = await runCommand(
    'pnpm',
    ['install', '--frozen-lockfile', '--reporter=append-only', ...pnpmOptions[wanted]],
    // CI mode never prompts.
    { cwd: root, env: { ...env, CI: 'true' }, onLine: log },
  );
  if (code !== 0) throw new UserError(`The dependencies could not be installed:\n${tailOf(output)}`);
  removeOtherPlatforms(root);
  stampDependencies(root, wanted);
  return '';
}

/**
 * Removes onnxruntime's binaries for other platforms: 245 of 290 MB.
 * @param {string} root
 */
export function removeOtherPlatforms(root) {
  const store = join(root, 'node_modules', '.pnpm');
  for (const name of existsSync(store) ? readdirSync(store) : []) {
    if (!name.startsWith('onnxruntime-node@')) continue;
    const binaries = join(store, name, 'node_modules', 'onnxruntime-node', 'bin');
    for (const folder of readdirSync(binaries, { recursive: true, encoding: 'utf8' })) {
      const isPlatform = folder.split('/').length === 3;
      if (isPlatform && !folder.endsWith(join(process.platform, process.arch)))
        rmSync(join(binaries, folder), { recursive: true });
    }
  }
}

/**
 * Runs a turbo task in all packages. Unchanged packages come from turbo's cache.
 * @param {{ root: string, env: NodeJS.ProcessEnv, task: string, log: (line: string) => void, logs?: string, args?: readonly string[] }} options
 */
export async function runTurbo({ root, env, task, log, logs = 'errors-only', args = [] }) {
  const turbo = join(root, 'node_modules', '.bin', 'turbo');
  const { code, output } = await runCommand(turbo, ['run', task, `--output-logs=${logs}`, ...args], {
    cwd: root,
    env: { ...env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
    onLine: log,
  });
  return { ok: code === 0, output };
}

/** The shipped parts and every package they import. */
const shippedPackages = [
  ...shippedParts,
  ...['http-common', 'egress-guard', 'processes', 'rate-limit', 'onnx-int8', 'model-setup'],
];

/**
 * Builds everything, or only the shipped packages without those that only tests need.
 * @param {{ root: string, env: NodeJS.ProcessEnv, log: (line: string) => void, everything: boolean }} options
 */
export async function build({ root, env, log, everything }) {
  const shipped = ['--only', ...shippedPackages.map((name) => `--filter=@media-services/${name}`)];
  const args = everything ? [] : shipped;
  const { ok, output } = await runTurbo({ root, env, task: 'build', log, logs: 'new-only', args });
  if (!ok) throw new UserError(`The build failed:\n${tailOf(output, 30)}`);
  return /FULL TURBO/.test(output) ? 'up to date' : '';
}
