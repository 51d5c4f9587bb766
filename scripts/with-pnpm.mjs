// node scripts/with-pnpm.mjs PROGRAM ARGS…: runs a program with this checkout's pnpm on PATH,
// where turbo looks for it. Scripts of package.json that need either begin with it.
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { ensurePnpm, pnpmFolder, runCommandLine } from '../packages/stack/src/set-up/index.mjs';

const [program = '', ...args] = process.argv.slice(2);

await runCommandLine(async () => {
  await ensurePnpm(console.error);
  const env = { ...process.env, PATH: [pnpmFolder, process.env.PATH].join(delimiter) };
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', env });
  if (error) throw error;
  return status ?? 1;
});
