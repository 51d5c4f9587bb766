import { delimiter, join } from 'node:path';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { withLock } from './lock.mjs';
import { isWanted, root, toolsDir } from './project.mjs';
import { pythonTool, setUpPythonEngine } from './python/python-engine.mjs';
import { UserError } from './user-error.mjs';
import { build } from './node/build.mjs';
import { installDependencies } from './node/dependencies.mjs';
import { checkNodeVersion } from './node/node-version.mjs';
import { ensurePnpm, pinnedPnpmVersion, pnpmFolder } from './node/pnpm.mjs';
import { setUpFfmpeg } from './system/ffmpeg.mjs';
import { announceSystemTools, installSystemTools } from './system/system-packages.mjs';
import { ffmpegTool, nightlyTools, runTools, testTools as toolsOfTests } from './system/system-tools.mjs';
import { installFfmpegBuild } from './system/ffmpeg-builds.mjs';

/**
 * @typedef {import('./system/system-tools.mjs').SystemTool} SystemTool
 * @typedef {(line: string) => void} Log
 */

const firstTools = [...runTools, pythonTool];
/** Without them there is a second way. */
const optionalTools = [ffmpegTool, pythonTool];

/**
 * Makes this checkout ready to run. Skips steps that are already done.
 * @param {{ progress: import('./progress.mjs').Progress, set?: 'run' | 'all', testTools?: boolean | 'nightly' }} options
 *   `run` installs and builds only what `npm start` needs; of model and yt-dlp, what SERVICES needs
 * @returns {Promise<NodeJS.ProcessEnv>} the environment for later commands
 */
export async function setUp({ progress, set = 'all', testTools = false }) {
  checkNodeVersion(root);
  const asksForPassword = await announceSystemTools({
    tools: [...firstTools, ffmpegTool],
    optional: optionalTools,
    say: (text) => progress.say(text),
  });
  return withLock(
    join(toolsDir, 'set-up.lock'),
    (text) => progress.say(text),
    () => runSteps({ progress, set, testTools, asksForPassword }),
  );
}

/** @param {{ progress: import('./progress.mjs').Progress, set: 'run' | 'all', testTools: boolean | 'nightly', asksForPassword: boolean }} options */
async function runSteps({ progress, set, testTools, asksForPassword }) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, PATH: [pnpmFolder(root), process.env.PATH].join(delimiter) };
  const install = (/** @type {readonly SystemTool[]} */ tools) => async (/** @type {Log} */ log) =>
    installSystemTools({ tools, log, env, optional: optionalTools });
  // The download engine's packages need Python and take as long as ffmpeg.
  const first = progress.step('nginx and Python', install(firstTools));
  const installPrograms = async () => {
    await first;
    await progress.step('ffmpeg', install([ffmpegTool]));
    if (testTools) await installTestTools(progress, toolsOfTests);
    if (testTools === 'nightly') await installTestTools(progress, nightlyTools);
  };
  const needs = (/** @type {string} */ service) => set === 'all' || isWanted(service);
  const installEngine = async () => {
    if (!needs('video-dl')) return;
    await first;
    let hasPyPi = false;
    await progress.step('Download engine (yt-dlp)', async (log) => {
      const { ytDlpVersion, source } = await setUpPythonEngine({ root, log });
      hasPyPi = source === 'venv';
      return `${ytDlpVersion} (${source})`;
    });
    if (hasPyPi && process.platform === 'linux' && !env.FFMPEG_PATH)
      await optionalStep(progress, 'ffmpeg that starts faster', installBuild('newest'));
    if (testTools) await optionalStep(progress, 'An older ffmpeg', installBuild('older'));
  };
  const programs = installPrograms();
  // Ask for the password before anything else writes to the terminal.
  if (asksForPassword) await programs;
  const code = installCode({ progress, env, set, withModel: needs('bg-removal') });
  await all([programs, code, installEngine()]);
  if (!ffmpegTool.isThere(env)) {
    await progress.step('ffmpeg without a package manager', async (log) => {
      await installDependencies({ root, env, log, set: 'ffprobe' });
      const { source, ...paths } = await setUpFfmpeg({ root, log, env });
      Object.assign(env, paths);
      return source;
    });
  }
  return env;
}

/** @param {'older' | 'newest'} build */
function installBuild(build) {
  return async (/** @type {Log} */ log) => {
    const { python } = await setUpPythonEngine({ root });
    await installFfmpegBuild({ root, python, build, log });
  };
}

/** @param {{ progress: import('./progress.mjs').Progress, env: NodeJS.ProcessEnv, set: 'run' | 'all', withModel: boolean }} options */
async function installCode({ progress, env, set, withModel }) {
  await progress.step(
    `pnpm ${pinnedPnpmVersion(root)}`,
    async (log) => void (await ensurePnpm({ root, log })),
  );
  await progress.step('Dependencies', (log) => installDependencies({ root, env, log, set }));
  await progress.step('Build', (log) => build({ root, env, log, everything: set === 'all' }));
  if (withModel) await progress.step('Model for background removal', (log) => setUpModel({ root, log }));
}

/**
 * Waits for all, so that nothing is running any more when the first failure is reported.
 * @param {readonly (Promise<unknown> | undefined)[]} work
 */
async function all(work) {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/**
 * Installs the test tools. A missing tool fails only the tests that need it.
 * @param {import('./progress.mjs').Progress} progress
 * @param {readonly SystemTool[]} tools
 */
async function installTestTools(progress, tools) {
  for (const tool of tools)
    await optionalStep(progress, tool.name, (log) => installSystemTools({ tools: [tool], log }));
}

/**
 * A step whose failure only says what is missing.
 * @param {import('./progress.mjs').Progress} progress
 * @param {string} name
 * @param {(log: Log) => Promise<string | void>} work
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
 * Installs the model named by MODEL (default: the ISNet weights) for bg-removal and verifies
 * its SHA-256. Skips a model that hasn't changed since; the service verifies it at each start.
 * @param {{ root: string, log: (line: string) => void }} options
 */
async function setUpModel({ root, log }) {
  const { model, modelsDir, isInstalled, install } = await findModel(root);
  if (!isInstalled) await explained(install({ model, modelsDir, log }));
}

/**
 * The model named by MODEL. Requires the built service, which contains the installer.
 * @param {string} root
 * @throws {UserError} if there is no such model
 */
export async function findModel(root) {
  const dist = join(root, 'apps', 'bg-removal', 'dist');
  if (!existsSync(join(dist, 'model'))) {
    throw new Error('bg-removal is not built yet: build first (npm run build), then set up the model.');
  }
  const load = (/** @type {string} */ file) => import(pathToFileURL(join(dist, file)).href);
  const { defaultModelId, defaultModelsDir, locateModel } = await load('model/known-models.js');
  const { isUnchanged } = await load('model/verify-model.js');
  const { setUpModel: install } = await load('model/set-up-model.js');
  const model = process.env.MODEL || defaultModelId;
  const modelsDir = process.env.MODELS_DIR || defaultModelsDir;
  const isInstalled = await explained((async () => isUnchanged(locateModel(model, modelsDir)))());
  return { model, modelsDir, isInstalled, install };
}

/**
 * Rejects with a UserError for errors of the installer whose messages say what to do.
 * @template T
 * @param {Promise<T>} work
 */
async function explained(work) {
  try {
    return await work;
  } catch (error) {
    const isExpected = error instanceof Error && /^(Model|Weights)\w*Error$/.test(error.name);
    throw isExpected ? new UserError(error.message) : error;
  }
}
