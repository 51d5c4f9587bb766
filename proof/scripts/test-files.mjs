import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { ensurePnpm, pnpmFolder, root, UserError } from '../../packages/stack/src/set-up/index.mjs';

/**
 * Whether an argument of `npm test` is a test file or a folder of tests, not a package.
 * @param {string} argument
 */
export function isTestPath(argument) {
  return /[\\/]test([\\/]|$)/.test(argument) && existsSync(resolve(argument));
}

/**
 * Runs test files in vitest, package by package. Builds first, but only what has changed: programs
 * that the tests start run what is compiled.
 * @param {{ files: readonly string[], watch: boolean, nightly: boolean }} options
 * @returns {Promise<number>} exit code
 */
export async function runTestFiles({ files, watch, nightly }) {
  const paths = files.map((file) => resolve(file));
  const packages = new Set(paths.map(packageOf));
  if (watch && packages.size > 1) throw new UserError('--watch takes files of one package.');
  await ensurePnpm(console.error);
  const bin = join(root, 'node_modules', '.bin');
  const env = {
    ...process.env,
    PATH: [bin, pnpmFolder, process.env.PATH].join(delimiter),
    TEST_NIGHTLY: nightly || files.some((file) => file.endsWith('.nightly.ts')) ? '1' : '',
    TURBO_TELEMETRY_DISABLED: '1',
  };
  /** @type {(file: string, args: readonly string[], cwd: string) => number} */
  const run = (file, args, cwd) => {
    const { status, error } = spawnSync(file, args, { cwd, env, stdio: 'inherit' });
    if (error) throw error;
    return status ?? 1;
  };
  let code = 0;
  for (const cwd of packages) {
    const { name, scripts } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
    const built = run('turbo', ['run', 'build', `--filter=${name}...`, '--output-logs=errors-only'], root);
    if (built !== 0) return built;
    const config = scripts.test.split(' ').slice(2);
    const own = paths.filter((file) => packageOf(file) === cwd).map((file) => relative(cwd, file));
    code ||= run('vitest', [watch ? 'watch' : 'run', ...config, ...own], cwd);
  }
  return code;
}

/**
 * The package that a file belongs to.
 * @param {string} file
 */
function packageOf(file) {
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}
