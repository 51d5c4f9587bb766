/**
 * Sets up the Python part of the download engine: yt-dlp in a virtual environment of this
 * checkout or, if that cannot be installed, the system's package.
 */
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from './project.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { installSystemTools } from './system-packages.mjs';
import { systemErrorCode, UserError } from './user-error.mjs';

/**
 * @typedef {object} PythonEngine an interpreter that can import yt-dlp
 * @property {string} python
 * @property {string} ytDlpVersion
 * @property {'configured' | 'venv' | 'system'} source
 *
 * @typedef {import('./system-packages.mjs').SystemTool} SystemTool
 * @typedef {(line: string) => void} Log
 */

export const engineFolder = 'apps/video-dl/engine';
/** The oldest Python version that the pinned yt-dlp supports. */
export const minimumPython = '3.10';

/** @type {SystemTool} */
export const pythonTool = {
  name: 'Python',
  purpose: 'runs the download engine',
  // Once its environment exists, the engine has a Python. Debian's lacks a part that makes one.
  isThere: (env = process.env) =>
    Boolean(env.YTDLP_PYTHON) ||
    findPythonEngine({ root, env })?.source === 'venv' ||
    ask(findBasePython() ?? 'python3', 'import ensurepip, venv') !== undefined,
  packages: { any: 'python3', apt: 'python3 python3-venv', pacman: 'python' },
  optional: true,
};

/** How long to keep the system's package before trying PyPI again. */
const retryPyPiAfterMs = 24 * 3600_000;

/** pip's arguments for a file of pinned packages. An unreachable index fails within seconds. */
export const pipInstall = [
  ...['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--no-deps'],
  ...['--require-hashes', '--only-binary=:all:', '--retries=1', '--timeout=10', '-r'],
];

/**
 * @param {{ root: string, log?: Log, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<PythonEngine>}
 * @throws {UserError} saying what to install if yt-dlp is not available
 */
export async function setUpPythonEngine({ root, log = () => {}, env = process.env }) {
  if (env.YTDLP_PYTHON) return configuredEngine(env.YTDLP_PYTHON);
  const venv = join(root, engineFolder, '.venv');
  const requirements = join(root, engineFolder, 'requirements.txt');
  const requirementsHash = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const recorded = readRecord(venv);
  const isDue =
    recorded?.source === 'system' && !(Date.now() - Date.parse(recorded.setUpAt) < retryPyPiAfterMs);
  if (recorded?.requirementsHash === requirementsHash && !isDue) {
    const python = resolve(venv, recorded.python);
    const ytDlpVersion = ytDlpVersionOf(python);
    if (ytDlpVersion !== undefined) return { python, ytDlpVersion, source: recorded.source };
  }
  const installed = await installIntoVenv({ venv, requirements, log, env });
  if (typeof installed !== 'string') return record(venv, installed, requirementsHash);
  log(`yt-dlp cannot be installed from PyPI (${installed}); falling back to the system's package.`);
  return record(venv, findSystemYtDlp() ?? (await installSystemYtDlp(installed, log)), requirementsHash);
}

/**
 * @param {string} python
 * @returns {PythonEngine}
 */
function configuredEngine(python) {
  const ytDlpVersion = ytDlpVersionOf(python);
  if (ytDlpVersion !== undefined) return { python, ytDlpVersion, source: 'configured' };
  throw new UserError(
    `YTDLP_PYTHON is ${python}, which cannot import yt_dlp. Point it at a Python that can, or unset it.`,
  );
}

/**
 * The interpreter that video-dl uses, and where it comes from.
 * @param {{ root: string, env: NodeJS.ProcessEnv }} options
 * @returns {Pick<PythonEngine, 'python' | 'source'> | undefined}
 */
export function findPythonEngine({ root, env }) {
  if (env.YTDLP_PYTHON) return { python: env.YTDLP_PYTHON, source: 'configured' };
  const venv = join(root, engineFolder, '.venv');
  const { python, source } = readRecord(venv) ?? {};
  return python && source ? { python: resolve(venv, python), source } : undefined;
}

/**
 * @param {string} venv
 * @returns {PythonEngine & { requirementsHash: string, setUpAt: string } | undefined}
 */
function readRecord(venv) {
  try {
    return JSON.parse(readFileSync(join(venv, 'engine.json'), 'utf8'));
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Records the result. Called last, so that an interrupted set-up is repeated.
 * @param {string} venv
 * @param {PythonEngine} engine
 * @param {string} requirementsHash
 */
function record(venv, engine, requirementsHash) {
  mkdirSync(venv, { recursive: true });
  // A relative path, because our virtual environment may be copied into an image.
  const python = engine.source === 'venv' ? join('bin', 'python') : engine.python;
  const content = { ...engine, python, requirementsHash, setUpAt: new Date().toISOString() };
  const file = join(venv, 'engine.json');
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  renameSync(`${file}.new`, file);
  return engine;
}

/**
 * @param {{ venv: string, requirements: string, log: Log, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<PythonEngine | string>} the reason if it failed
 */
async function installIntoVenv({ venv, requirements, log, env }) {
  const reason = await createVenv({ venv, env });
  if (reason !== undefined) return reason;
  const python = join(venv, 'bin', 'python');
  log('installing yt-dlp and its JavaScript runtime from PyPI (about 50 MB)');
  const onLine = (/** @type {string} */ line) =>
    /^(Collecting|Installing)/.test(line) && log(line.slice(0, 100));
  const pip = await runCommand(python, [...pipInstall, requirements], { env, onLine });
  const ytDlpVersion = pip.code === 0 ? ytDlpVersionOf(python) : undefined;
  if (ytDlpVersion !== undefined) return { python, ytDlpVersion, source: 'venv' };
  rmSync(venv, { recursive: true, force: true });
  // Where the index can't be reached, pip's last line only says that it has no such package.
  const cause = pip.output.split('\n').find((line) => /^(?:WARNING: Retrying|ERROR)/.test(line));
  return (cause ?? tailOf(pip.output, 1)).slice(0, 300);
}

/**
 * Creates a virtual environment with pip.
 * @returns the reason if it failed
 * @param {{ venv: string, env: NodeJS.ProcessEnv }} options
 */
export async function createVenv({ venv, env }) {
  const base = findBasePython();
  if (base === undefined) return `there is no Python ${minimumPython} or later`;
  const { code, output } = await runCommand(base, ['-m', 'venv', '--clear', venv], { env });
  if (code === 0) return undefined;
  rmSync(venv, { recursive: true, force: true });
  return `${base} -m venv failed: ${tailOf(output, 2)}`;
}

/**
 * @param {string} reason why PyPI did not work
 * @param {Log} log
 * @returns {Promise<PythonEngine>}
 * @throws {UserError} saying what to install
 */
async function installSystemYtDlp(reason, log) {
  const ytDlp = {
    name: 'yt-dlp',
    purpose: `the download engine; PyPI failed: ${reason}`,
    packages: { any: 'yt-dlp' },
    isThere: () => findSystemYtDlp() !== undefined,
    hint: 'Or set YTDLP_PYTHON to a Python interpreter that can import yt_dlp.',
  };
  await installSystemTools({ tools: [ytDlp], log });
  const installed = findSystemYtDlp();
  if (installed === undefined) throw new UserError('yt-dlp was installed but cannot be imported.');
  return installed;
}

/** Finds a Python for a virtual environment. `python3` may be older than a numbered one. */
function findBasePython() {
  const numbered = [14, 13, 12, 11, 10].map((minor) => `python3.${minor}`);
  const isNewEnough = `import sys; assert sys.version_info >= (${minimumPython.replace('.', ', ')})`;
  return ['python3', '/usr/bin/python3', ...numbered].find(
    (python) => ask(python, isNewEnough) !== undefined,
  );
}

/**
 * Finds a system interpreter with yt-dlp. apt may install for a different Python than `python3`
 * on PATH, and brew gives yt-dlp its own.
 * @returns {PythonEngine | undefined}
 */
export function findSystemYtDlp() {
  const brewed = ['/opt/homebrew', '/usr/local'].map((prefix) => `${prefix}/opt/yt-dlp/libexec/bin/python`);
  for (const name of ['/usr/bin/python3', 'python3', ...brewed]) {
    const python = ask(name, 'import sys; print(sys.executable)') ?? name;
    const ytDlpVersion = ytDlpVersionOf(python);
    if (ytDlpVersion !== undefined) return { python, ytDlpVersion, source: 'system' };
  }
  return undefined;
}

/**
 * The version of an interpreter's yt-dlp, without the second that an import takes; undefined if it
 * has none.
 * @param {string} python
 */
export function ytDlpVersionOf(python) {
  const program = [
    'import importlib.util, runpy',
    '[folder] = importlib.util.find_spec("yt_dlp").submodule_search_locations',
    'print(runpy.run_path(folder + "/version.py")["__version__"])',
  ];
  return ask(python, program.join('\n'));
}

/**
 * What a program prints; undefined if it fails.
 * @param {string} python
 * @param {string} program
 */
function ask(python, program) {
  const { status, stdout } = spawnSync(python, ['-c', program], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
