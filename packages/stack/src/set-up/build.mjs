import { join } from 'node:path';
import { shippedParts } from './dependencies.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { UserError } from './user-error.mjs';

/**
 * Runs a turbo task in all packages. Unchanged packages come from turbo's cache.
 * @param {{ root: string, env: NodeJS.ProcessEnv, task: string, log: (line: string) => void, logs?: string, args?: readonly string[] }} options
 */
export async function runTurbo({ root, env, task, log, logs = 'errors-only', args = [] }) {
  const turbo = join(root, 'node_modules', '.bin', 'turbo');
  const { code, output } = await runCommand(turbo, ['run', task, `--output-logs=${logs}`, ...args], {
    cwd: root,
    env: { ...env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', DO_NOT_TRACK: '1' },
    onLine: log,
  });
  return { ok: code === 0, output };
}

/** The shipped parts and every package they import. */
const shippedPackages = [
  ...shippedParts,
  ...['http-common', 'egress-guard', 'processes', 'rate-limit', 'onnx-int8', 'model-setup'],
];

/**
 * Builds everything, or only the shipped packages without those that only tests need.
 * @param {{ root: string, env: NodeJS.ProcessEnv, log: (line: string) => void, everything: boolean }} options
 */
export async function build({ root, env, log, everything }) {
  const shipped = ['--only', ...shippedPackages.map((name) => `--filter=@media-services/${name}`)];
  const args = everything ? [] : shipped;
  const { ok, output } = await runTurbo({ root, env, task: 'build', log, logs: 'new-only', args });
  if (!ok) throw new UserError(`The build failed:\n${tailOf(output, 30)}`);
  return /FULL TURBO/.test(output) ? 'up to date' : '';
}
