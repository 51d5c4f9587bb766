// npm run bench:NAME: set-up, build, then the program bench/src/NAME.ts with the arguments that follow.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Progress, root, runCommandLine, setUp } from '../packages/set-up/src/index.mjs';

await runCommandLine(async () => {
  const [name, ...args] = process.argv.slice(2);
  const env = await setUp({ progress: new Progress(process.stderr) });
  const program = join(root, 'bench', 'dist', `${name}.js`);
  const { status, error } = spawnSync(process.execPath, [program, ...args], { env, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
});
