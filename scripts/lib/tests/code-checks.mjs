import { join } from 'node:path';
import { runTurbo } from '../set-up/build.mjs';
import { runCommand, tailOf } from '../run-command.mjs';

/** Type checks and type-aware lint of all packages, tests included; each counts as one test. */
export async function runCodeChecks({ root, env, progress }) {
  const turbo = (task) => (log) => runTurbo({ root, env, task, log, args: ['--continue', '--concurrency=2'] });
  const checks = [
    ['typecheck', turbo('typecheck')],
    ['lint', turbo('lint')],
    ['lint of scripts', (log) => lintScripts({ root, env, log })],
  ];
  const results = [];
  for (const [name, check] of checks) {
    const { ok, output } = await progress.step(name, check);
    if (!ok) progress.say(tailOf(output, 60));
    results.push({
      name,
      passed: ok ? 1 : 0,
      failed: ok ? 0 : 1,
      skipped: 0,
      failures: ok ? [] : ['see its output above'],
    });
  }
  return results;
}

/** The scripts are no workspace package, so turbo does not see them. */
async function lintScripts({ root, env, log }) {
  const eslint = join(root, 'node_modules', '.bin', 'eslint');
  const { code, output } = await runCommand(eslint, ['scripts'], { cwd: root, env, onLine: log });
  return { ok: code === 0, output };
}
