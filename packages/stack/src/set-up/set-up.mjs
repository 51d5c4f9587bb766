import { delimiter, join } from 'node:path';
import { build, ensurePnpm, installDependencies, pnpmFolder } from './dependencies.mjs';
import { installFfmpegBuild, withStaticFfmpeg } from './ffmpeg.mjs';
import { withLock } from './lock.mjs';
import { checkNodeVersion, isWanted, root, toolsDir } from './project.mjs';
import { findPythonEngine, pythonTool, setUpPythonEngine } from './python-engine.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { announceSystemTools, installSystemTools } from './system-packages.mjs';
import { ffmpegTool, nginxTool, players, testTools as toolsOfTests } from './system-tools.mjs';
import { UserError } from './user-error.mjs';

/**
 * @typedef {import('./progress.mjs').Progress} Progress
 * @typedef {(line: string) => void} Log
 * @typedef {object} SetUpOptions
 * @property {Progress} progress
 * @property {'run' | 'all'} [set] `run` installs and builds only what `npm start` needs; of model and
 *   yt-dlp, what SERVICES needs
 * @property {boolean | 'nightly'} [testTools]
 */

/**
 * Makes this checkout ready to run. Skips steps that are already done.
 * @param {SetUpOptions} options
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for later commands
 */
export async function setUp(options) {
  checkNodeVersion();
  const say = (/** @type {string} */ text) => options.progress.say(text);
  const tools = [nginxTool, pythonTool, ...(triesStaticBuild(options.set) ? [] : [ffmpegTool])];
  const asksForPassword = await announceSystemTools({ tools, say });
  return withLock(join(toolsDir, 'set-up.lock'), say, () => runSteps(options, asksForPassword));
}

/**
 * On Linux, `npm start` installs ffmpeg from PyPI, and the system's only if that fails. Tests need the system's too.
 * @param {SetUpOptions['set']} set
 */
const triesStaticBuild = (set) => set === 'run' && process.platform === 'linux' && !process.env.YTDLP_PYTHON;

/**
 * @param {SetUpOptions} options
 * @param {boolean} asksForPassword
 */
async function runSteps({ progress, set = 'all', testTools = false }, asksForPassword) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: [pnpmFolder, process.env.PATH].join(delimiter) };
  const needs = (/** @type {string} */ service) => set === 'all' || isWanted(service);
  // The download engine's packages need Python and take as long as ffmpeg.
  const first = progress.step('nginx and Python', (log) =>
    installSystemTools({ tools: [nginxTool, pythonTool], log, env }),
  );
  const installSystemFfmpeg = () =>
    progress.step('ffmpeg', (log) =>
      installSystemTools({
        tools: [ffmpegTool],
        log,
        env: triesStaticBuild(set) ? withStaticFfmpeg(root, env) : env,
      }),
    );
  const installPrograms = async () => {
    await first;
    if (!triesStaticBuild(set)) await installSystemFfmpeg();
    const tools = [...(testTools ? toolsOfTests : []), ...(testTools === 'nightly' ? [players] : [])];
    for (const tool of tools)
      await optionalStep(progress, tool.name, (log) => installSystemTools({ tools: [tool], log }));
  };
  const installEngine = async () => {
    if (!needs('video-dl')) return;
    await first;
    await progress.step('Download engine (yt-dlp)', async (log) => {
      const { ytDlpVersion, source } = await setUpPythonEngine({ root, log });
      return `${ytDlpVersion} (${source})`;
    });
    const { python = '', source } = findPythonEngine({ root, env }) ?? {};
    const addBuild = (/** @type {string} */ step, /** @type {'newest' | 'older'} */ build) =>
      optionalStep(progress, step, () => installFfmpegBuild({ root, python, build }));
    if (source === 'venv' && process.platform === 'linux' && !env.FFMPEG_PATH)
      await addBuild('ffmpeg that starts faster', 'newest');
    if (triesStaticBuild(set)) await installSystemFfmpeg();
    if (testTools) await addBuild('An older ffmpeg', 'older');
  };
  const installCode = async () => {
    await progress.step('pnpm', ensurePnpm);
    await progress.step('Dependencies', (log) => installDependencies({ root, env, log, set }));
    await progress.step('Build', (log) => build({ root, env, log, everything: set === 'all' }));
    if (needs('bg-removal')) await progress.step('Model for background removal', setUpModel);
  };
  const programs = installPrograms();
  // Ask for the password before anything else writes to the terminal.
  if (asksForPassword) await programs;
  // Wait for all, so that nothing is running any more when the first failure is reported.
  const results = await Promise.allSettled([programs, installCode(), installEngine()]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return env;
}

/**
 * A step whose failure only says what is missing.
 * @param {Progress} progress
 * @param {string} name
 * @param {(log: Log) => Promise<unknown>} work
 */
async function optionalStep(progress, name, work) {
  try {
    await progress.step(name, work);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    progress.say(`  ${error.message}`);
  }
}

/**
 * Installs the model named by MODEL, unless it hasn't changed since; the service verifies it at each start.
 * @param {Log} log
 */
async function setUpModel(log) {
  const { code, output } = await runModelSetUp('--if-changed', log);
  if (code !== 0) throw new UserError(tailOf(output));
}

/**
 * Runs the installer of the model, which the build contains.
 * @param {'--if-changed' | '--check'} option
 * @param {Log} [onLine]
 */
export function runModelSetUp(option, onLine = () => {}) {
  const program = join(root, 'apps/bg-removal/dist/set-up-model.js');
  return runCommand(process.execPath, [program, option], { onLine });
}
