import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';

/** @type {(root: string) => string} */
const stampFile = (root) => join(root, 'node_modules', '.set-up-stamp');

/**
 * Changes when what has to be installed changes.
 * @param {string} root
 */
export function dependenciesHash(root) {
  const hash = createHash('sha256');
  for (const name of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
    hash.update(readFileSync(join(root, name)));
  }
  return hash.digest('hex');
}

/** @param {string} root */
export function dependenciesAreCurrent(root) {
  const stamp = stampFile(root);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === dependenciesHash(root);
}

/**
 * Installs exactly what the lockfile says; nothing where that has been done.
 * @param {{ root: string, env: NodeJS.ProcessEnv, log: (line: string) => void }} options
 */
export async function installDependencies({ root, env, log }) {
  if (dependenciesAreCurrent(root)) return 'up to date';
  const { code, output } = await runCommand(
    'pnpm',
    ['install', '--frozen-lockfile', '--reporter=append-only'],
    {
      cwd: root,
      // CI: never a question that nobody sees.
      env: { ...env, CI: 'true' },
      onLine: log,
    },
  );
  if (code !== 0) {
    throw new UserError(`The dependencies could not be installed:\n${tailOf(output)}`);
  }
  writeFileSync(stampFile(root), dependenciesHash(root));
  return '';
}
