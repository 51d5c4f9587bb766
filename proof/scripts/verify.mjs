// npm run verify:compose, verify:swarm, verify:kubernetes, verify:workflows, verify:arm64: proves what
// deploys the services. Installs the dependencies; the rest is in proof/verify.
import { delimiter, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import {
  ensurePnpm,
  installDependencies,
  pnpmFolder,
  Progress,
  root,
  runCommandLine,
  runTurbo,
  UserError,
} from '../../packages/stack/src/set-up/index.mjs';

const [place = '', ...options] = process.argv.slice(2);

await runCommandLine(async () => {
  const progress = new Progress();
  await progress.step('pnpm', async (log) => void (await ensurePnpm({ root, log })));
  const env = { ...process.env, PATH: [pnpmFolder(root), process.env.PATH].join(delimiter) };
  await progress.step('Dependencies', (log) => installDependencies({ root, env, log, set: 'all' }));
  await progress.step('Build', async (log) => {
    const args = ['--filter=@media-services/verify...'];
    const { ok, output } = await runTurbo({ root, env, task: 'build', log, args });
    if (!ok) throw new UserError(`The build failed:\n${output}`);
  });
  const program = join(root, 'proof', 'verify', 'dist', `${place}.js`);
  const { status, error } = spawnSync(process.execPath, [program, ...options], { stdio: 'inherit', env });
  if (error) throw error;
  return status ?? 1;
});
