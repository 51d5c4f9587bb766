import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectManifest } from '../project.mjs';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';

/**
 * The pnpm version pinned in package.json, for example `12.21.0`.
 * @param {string} root
 */
export function pinnedPnpmVersion(root) {
  const { packageManager } = projectManifest(root);
  const version = /^pnpm@([^+]+)/.exec(packageManager)?.[1];
  if (version === undefined)
    throw new UserError(`package.json pins no pnpm in packageManager: ${packageManager}`);
  return version;
}

/**
 * The folder of the pinned pnpm, whether or not it is installed.
 * @param {string} root
 */
export function pnpmFolder(root) {
  return join(root, '.tools', `pnpm-${pinnedPnpmVersion(root)}`, 'node_modules', '.bin');
}

/**
 * Installs the pinned pnpm version into this checkout; installs nothing globally.
 * @returns {Promise<string>} the folder to put on PATH
 * @param {{ root: string, log: (line: string) => void }} options
 */
export async function ensurePnpm({ root, log }) {
  const version = pinnedPnpmVersion(root);
  const folder = pnpmFolder(root);
  const prefix = join(root, '.tools', `pnpm-${version}`);
  // Written last, so that an interrupted installation is repeated. Running pnpm takes half a second.
  const installed = join(prefix, 'installed');
  if (existsSync(installed) && existsSync(join(folder, 'pnpm'))) return folder;
  mkdirSync(prefix, { recursive: true });
  // Without its own package.json, npm would search the parent folders.
  writeFileSync(join(prefix, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--no-save', `pnpm@${version}`];
  const { code, output } = await runCommand('npm', args, { cwd: prefix, onLine: log });
  if (code !== 0 || (await versionOf(folder)) !== version) {
    throw new UserError(
      `pnpm ${version} could not be installed with npm. Check the network and npm's registry setting, then try again.\n${tailOf(output)}`,
    );
  }
  writeFileSync(installed, '');
  return folder;
}

/** @param {string} folder */
async function versionOf(folder) {
  // Run outside the repository, so that its configuration can't change the result.
  const { code, output } = await runCommand(join(folder, 'pnpm'), ['--version'], {
    cwd: join(folder, '..', '..'),
  });
  return code === 0 ? output.trim() : undefined;
}
