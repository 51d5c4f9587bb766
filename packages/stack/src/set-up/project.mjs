import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { systemErrorCode } from './user-error.mjs';

/** The repository's folder. */
export const root = resolve(import.meta.dirname, '../../../..');

/** Files created by set-up and runs: pnpm, logs, the gateway's run folders. Safe to delete. */
export const toolsDir = join(root, '.tools');
export const logsDir = join(toolsDir, 'logs');

export const gatewayDir = join(root, 'nginx');

/** @returns {{ packageManager: string, engines: { node: string } }} */
export function projectManifest(folder = root) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * Loads `.env` into the environment, like Docker Compose does. Variables that are already set
 * take precedence.
 * @param {string} [folder] the repository's by default
 */
export function readSettings(folder = root, env = process.env) {
  let text;
  try {
    text = readFileSync(join(folder, '.env'), 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ??= value;
}
