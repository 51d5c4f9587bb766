// pnpm run mutation [NAME…], in a package: the mutation tests of its mutation.config.js, or those named.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const wanted = process.argv.slice(2);
/** @type {{ default: import('../stryker.base.js').Subject[] }} */
const { default: subjects } = await import(pathToFileURL(resolve('mutation.config.js')).href);
for (const { name } of subjects) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const env = { ...process.env, MUTATION_SUBJECT: name };
  const { status, error } = spawnSync('stryker', ['run', '../../proof/stryker.base.js'], {
    env,
    stdio: 'inherit',
  });
  if (error) throw error;
  process.exitCode ||= status ?? 1;
}
