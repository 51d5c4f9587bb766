import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createVenv,
  engineFolder,
  minimumPython,
  Progress,
  root,
  runCommand,
  runScript,
  setUpPythonEngine,
  tailOf,
  toolsDir,
  UserError,
  withLock,
} from '../packages/stack/src/set-up/index.mjs';

const usage = `npm run update:yt-dlp
Pins the newest yt-dlp and the newest static ffmpeg with their file hashes, and installs yt-dlp.`;

const uvVersion = '0.13.8';

await runScript({ usage }, async () => {
  const progress = new Progress();
  await withLock(
    join(toolsDir, 'set-up.lock'),
    (text) => progress.say(text),
    () => update(progress),
  );
});

/** @param {Progress} progress */
async function update(progress) {
  const folder = join(root, engineFolder);
  const venv = join(toolsDir, 'uv');
  await progress.step('The resolver (uv)', (log) => installUv(venv, log));
  await progress.step('The newest versions', async (log) => {
    for (const name of ['requirements', 'ffmpeg']) await pin(join(venv, 'bin', 'uv'), folder, name, log);
  });
  await rm(venv, { recursive: true });
  const { ytDlpVersion } = await progress.step('The download engine', async (log) =>
    setUpPythonEngine({ root, log }),
  );
  progress.say(
    `\nyt-dlp ${ytDlpVersion} is installed and pinned. Run \`npm test\`, then commit ${engineFolder}.`,
  );
}

/**
 * @param {string} venv
 * @param {(line: string) => void} log
 */
async function installUv(venv, log) {
  const problem = await createVenv({ venv, env: process.env });
  if (problem !== undefined) throw new UserError(problem);
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', `uv==${uvVersion}`];
  await runOrThrow(join(venv, 'bin', 'python'), pip, log);
}

/**
 * Resolves `<name>.in` into `<name>.txt` for all platforms and Python versions. Keeps the comments
 * at the top of the file.
 * @param {string} uv
 * @param {string} folder
 * @param {string} name
 * @param {(line: string) => void} log
 */
async function pin(uv, folder, name, log) {
  const target = join(folder, `${name}.txt`);
  const header = (await readFile(target, 'utf8')).split('\n').filter((line) => line.startsWith('#'));
  const resolved = join(toolsDir, 'uv', `${name}.txt`);
  await runOrThrow(
    uv,
    [
      ...['pip', 'compile', '--universal', '--python-version', minimumPython, '--generate-hashes'],
      ...['--no-annotate', '--no-header', '--upgrade', '--override', join(folder, 'overrides.txt')],
      ...[join(folder, `${name}.in`), '-o', resolved],
    ],
    log,
  );
  await writeFile(target, `${header.join('\n')}\n${await readFile(resolved, 'utf8')}`);
}

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {(line: string) => void} log
 */
async function runOrThrow(file, args, log) {
  const env = { ...process.env, UV_PYTHON_DOWNLOADS: 'never' };
  const { code, output } = await runCommand(file, args, { env, onLine: log });
  if (code !== 0) throw new UserError(tailOf(output));
}
