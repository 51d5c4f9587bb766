import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The repository's folder. */
export const root = resolve(import.meta.dirname, '../../../..');

/** What set-up and runs leave behind: pnpm, logs, the gateway's run folders. Safe to delete. */
export const toolsDir = join(root, '.tools');
export const logsDir = join(toolsDir, 'logs');

export const gatewayDir = join(root, 'nginx');

/** @returns {{ packageManager: string, engines: { node: string } }} */
export function projectManifest(folder = root) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
