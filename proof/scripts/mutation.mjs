// pnpm run mutation [NAME…], in a package: its mutation tests (proof/mutation-subjects.js), or those named.
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { subjects } from '../mutation-subjects.js';

const wanted = process.argv.slice(2);
for (const { name } of subjects[basename(process.cwd())] ?? []) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const env = { ...process.env, MUTATION_SUBJECT: name };
  const { status, error } = spawnSync('stryker', ['run', '../../proof/stryker.base.js'], {
    env,
    stdio: 'inherit',
  });
  if (error) throw error;
  process.exitCode ||= status ?? 1;
}
