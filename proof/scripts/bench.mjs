// npm run bench -- NAME ARGS…: set-up, build, then the program proof/bench/src/NAME.ts with the arguments that follow.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Progress, root, runCommandLine, setUp, UserError } from '../../packages/stack/src/set-up/index.mjs';

await runCommandLine(async () => {
  const [name, ...args] = process.argv.slice(2);
  const source = join(root, 'proof', 'bench', 'src', `${name}.ts`);
  if (!existsSync(source)) {
    throw new UserError(
      'npm run bench -- NAME, with the name of a program in proof/bench/src: video, versus, gateway, load, bg, matting, models, pictures, activations, lighthouse.',
    );
  }
  const env = await setUp({ progress: new Progress(process.stderr) });
  const program = join(root, 'proof', 'bench', 'dist', `${name}.js`);
  const { status, error } = spawnSync(process.execPath, [program, ...args], { env, stdio: 'inherit' });
  if (error) throw error;
  return status ?? 1;
});
