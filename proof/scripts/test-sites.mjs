import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Progress,
  root,
  runCommand,
  runScript,
  setUp,
  setUpPythonEngine,
  tailOf,
  UserError,
} from '../../packages/stack/src/set-up/index.mjs';

const usage = `npm run proof -- sites [--newest] [--long]
Runs the tests against the double of the sites (proof/fault-site/src/double).
  --newest  with the newest yt-dlp of PyPI, as an update of a running service would take it
  --long    also what takes minutes: the longest advertisements, twenty videos in a row, what a solve
            takes, streams of two minutes through an exchange of engines`;

await runScript(
  { usage, options: { newest: { type: 'boolean' }, long: { type: 'boolean' } } },
  async ({ values }) => {
    const progress = new Progress();
    const env = await setUp({ progress, testTools: true });
    const long = values.long === true;
    if (values.newest !== true) return runTests(env, long);
    const packages = await mkdtemp(join(tmpdir(), 'newest-yt-dlp-'));
    try {
      const { python } = await setUpPythonEngine({ root });
      const installed = await progress.step('The newest yt-dlp', (log) => install(python, packages, log));
      progress.say(installed);
      return runTests({ ...env, YTDLP_PYTHON: python, PYTHONPATH: packages }, long);
    } finally {
      await rm(packages, { recursive: true });
    }
  },
);

/**
 * Beside the pinned packages, which it runs with.
 * @param {string} python
 * @param {string} packages
 * @param {(line: string) => void} log
 */
async function install(python, packages, log) {
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
  const { code, output } = await runCommand(python, [...pip, '--target', packages, 'yt-dlp', 'yt-dlp-ejs'], {
    onLine: log,
  });
  if (code !== 0) throw new UserError(tailOf(output));
  return /Successfully installed (.*)/.exec(output)?.[1] ?? '';
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {boolean} long
 */
function runTests(env, long) {
  const vitest = join(root, 'node_modules', '.bin', 'vitest');
  const config = ['-c', '../../proof/vitest/video-dl.ts', '--root', '.'];
  const suites = ['test/double/', ...(long ? ['.nightly.ts'] : ['--exclude', '**/*.nightly.ts'])];
  const { status, error } = spawnSync(vitest, ['run', ...config, ...suites], {
    cwd: join(root, 'apps/video-dl'),
    stdio: 'inherit',
    env: { ...process.env, ...env, TEST_NIGHTLY: '1' },
  });
  if (error) throw error;
  return status ?? 1;
}
