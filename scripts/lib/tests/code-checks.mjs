import { join } from 'node:path';
import { runTurbo } from '../set-up/build.mjs';
import { runCommand, tailOf } from '../run-command.mjs';

/** Type checks and type-aware lint of all packages, tests included; each counts as one test. */
export async function runCodeChecks({ root, env, progress }) {
  const turbo = (task) => (log) =>
    runTurbo({ root, env, task, log, args: ['--continue', '--concurrency=2'] });
  const checks = [
    ['typecheck', turbo('typecheck')],
    ['lint', turbo('lint')],
    ['lint of scripts', (log) => lintScripts({ root, env, log })],
  ];
  const results = [];
  for (const [name, check] of checks) {
    const complaint = await complaintOf(progress, name, check);
    if (complaint !== undefined) progress.say(tailOf(complaint, 60));
    const failed = complaint === undefined ? 0 : 1;
    const failures = failed ? ['see its output above'] : [];
    results.push({ name, passed: 1 - failed, failed, skipped: 0, failures });
  }
  return results;
}

/** Runs a check as a step that fails with it; returns what it said then. */
async function complaintOf(progress, name, check) {
  let complaint;
  const run = async (log) => {
    const { ok, output } = await check(log);
    if (ok) return;
    complaint = output;
    throw new Error(`${name} failed`);
  };
  await progress.step(name, run).catch((error) => {
    if (complaint === undefined) throw error;
  });
  return complaint;
}

/** The scripts are no workspace package, so turbo does not see them. */
async function lintScripts({ root, env, log }) {
  const eslint = join(root, 'node_modules', '.bin', 'eslint');
  const { code, output } = await runCommand(eslint, ['scripts'], { cwd: root, env, onLine: log });
  return { ok: code === 0, output };
}
