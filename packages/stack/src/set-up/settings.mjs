import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { root } from './project.mjs';
import { systemErrorCode } from './user-error.mjs';

/**
 * Puts the settings of `.env` into the environment, where compose takes them from too;
 * a variable that is set already stays.
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
