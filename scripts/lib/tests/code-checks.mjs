import { runTurbo } from '../set-up/build.mjs';
import { tailOf } from '../run-command.mjs';

/** Type-aware lint and type checks of all packages, tests included; each counts as one test. */
export async function runCodeChecks({ root, env, progress }) {
  const results = [];
  for (const task of ['typecheck', 'lint']) {
    const { ok, output } = await progress.step(task, (log) =>
      runTurbo({ root, env, task, log, args: ['--continue', '--concurrency=2'] }),
    );
    if (!ok) progress.say(tailOf(output, 60));
    const failures = ok ? [] : [`turbo run ${task}: see above`];
    results.push({ name: task, passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, failures });
  }
  return results;
}
