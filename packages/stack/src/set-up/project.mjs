import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { systemErrorCode, UserError } from './user-error.mjs';

/** The repository's folder. */
export const root = resolve(import.meta.dirname, '../../../..');

/** Files created by set-up and runs: pnpm, logs, the gateway's run folders. Safe to delete. */
export const toolsDir = join(root, '.tools');
export const logsDir = join(toolsDir, 'logs');

export const gatewayDir = join(root, 'nginx');

/** @type {{ packageManager: string, engines: { node: string } }} */
export const projectManifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Loads `.env` into the environment, like Docker Compose does. Variables that are already set
 * take precedence.
 * @param {string} [folder] the repository's by default
 * @throws {UserError} if the file can't be read, or if a part of it is no setting
 */
export function readSettings(folder = root, env = process.env) {
  const file = join(folder, '.env');
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'ENOENT') return;
    throw new UserError(`Cannot read ${file} (${code}). Make it a file that you may read, or delete it.`);
  }
  // Node 24 ignores a line that is no setting; earlier versions take it for the beginning of the next name.
  const invalid = withoutQuotedValues(text)
    .split('\n')
    .find((line) => !settingLine.test(line));
  if (invalid !== undefined) {
    throw new UserError(
      `${file} must have lines such as PORT=8090, in UTF-8. Correct or delete the line ${JSON.stringify(invalid)}.`,
    );
  }
  for (const [name, value] of Object.entries(parseEnv(likeCompose(text)))) {
    if (name.startsWith('#')) continue; // Node takes some comments for settings
    env[name] ??= value;
  }
}

/** A setting, a comment, or nothing. */
const settingLine = /^\ufeff?\s*(?:(?:export\s+)?[A-Za-z_][\w.-]*\s*[=:][^\0]*|#.*)?$/;

/** Values in quotes may have several lines. @type {(text: string) => string} */
const withoutQuotedValues = (text) => text.replaceAll(/([=:]\s*)(["'`])[^\0]*?\2/g, '$1');

/**
 * Makes Node read what Compose reads: removes a byte order mark, takes `PORT: 9000` as a setting,
 * and quotes values such as `user:p#ss`, because only a `#` after a space begins a comment.
 * @param {string} text
 */
function likeCompose(text) {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line) => line.replace(/^(\s*(?:export\s+)?[A-Za-z_][\w.-]*)\s*:/, '$1='))
    .map((line) => {
      const [, start = '', rest = ''] = /^([^#=]*=\s*)([^\s#'"`].*)/.exec(line) ?? [];
      const [value = ''] = rest.split(/\s#/, 1);
      const quote = ["'", '`', '"'].find((each) => !value.includes(each));
      return value.includes('#') && quote !== undefined ? start + quote + value.trimEnd() + quote : line;
    })
    .join('\n');
}

/**
 * Whether SERVICES names this service; empty means both. The gateway's set-up validates the names.
 * @param {string} service
 */
export function isWanted(service, env = process.env) {
  const names = (env.SERVICES ?? '').split(',').map((name) => name.trim());
  return names.includes(service) || names.every((name) => name === '');
}

/**
 * Whether a version is at least another; both look like `20.19.0`.
 * @type {(version: string, minimum: string) => boolean}
 */
export const isAtLeast = (version, minimum) => version.localeCompare(minimum, 'en', { numeric: true }) >= 0;

/** @throws {UserError} if Node is older than package.json allows */
export function checkNodeVersion(version = process.versions.node) {
  const minimum = projectManifest.engines.node.replace('>=', '');
  if (isAtLeast(version, minimum)) return;
  throw new UserError(
    `Node ${version} is too old: ${minimum} or later is needed. See https://nodejs.org for a newer one.`,
  );
}
