import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable, findFfmpeg, findNginx } from './executables.mjs';
import { runCommand } from './run-command.mjs';
import { dependenciesAreCurrent } from './node/dependencies.mjs';
import { isAtLeast, minimumNodeVersion } from './node/node-version.mjs';
import { pinnedPnpmVersion, pnpmFolder } from './node/pnpm.mjs';
import { findPythonEngine } from './python/python-engine.mjs';
import { findModel } from './set-up.mjs';
import { downloadFolder } from './system/ffmpeg.mjs';
import { ffmpegTool, runTools, testTools } from './system/system-tools.mjs';
import { listenFailure, portFrom } from './stack/ports.mjs';
import { checkSettings } from './stack/settings-problems.mjs';
import { staticFfmpeg, testedVersions, versionIn } from './system/ffmpeg-builds.mjs';
import { isWanted, toolsDir } from './project.mjs';
import { systemErrorCode, UserError } from './user-error.mjs';

const setUpFix = 'npm run setup';

/**
 * @typedef {object} Diagnosis
 * @property {string} name
 * @property {'ok' | 'warning' | 'missing' | 'wrong'} state `missing` and `wrong` keep the project from running
 * @property {string} found
 * @property {string} [fix]
 */

/** @type {(name: string, found: string) => Diagnosis} */
const ok = (name, found) => ({ name, state: 'ok', found });
/** @type {(name: string, found: string, fix?: string) => Diagnosis} */
const missing = (name, found, fix = setUpFix) => ({ name, state: 'missing', found, fix });
/** @type {(name: string, found: string, fix: string) => Diagnosis} */
const warning = (name, found, fix) => ({ name, state: 'warning', found, fix });

/** @type {(name: string, found: string) => Diagnosis} */
const wrong = (name, found) => ({ name, state: 'wrong', found });

/** @param {string} name */
const notChecked = (name) => warning(name, 'not checked', 'build first: npm run setup');

/**
 * The first line of a program's output; undefined if the program fails.
 * @param {string} file
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>}
 */
async function firstLine(file, args) {
  const { code, output } = await runCommand(file, args);
  return code === 0 ? output.trim().split('\n')[0] : undefined;
}

/** @param {string} root */
function checkNode(root) {
  const minimum = minimumNodeVersion(root);
  const { node } = process.versions;
  return isAtLeast(node, minimum)
    ? ok('Node', node)
    : missing('Node', `${node}, too old`, `install Node ${minimum} or later from https://nodejs.org`);
}

async function checkGit() {
  const version = await firstLine('git', ['--version']);
  return version === undefined
    ? warning('git', 'not found', 'install git to update the checkout')
    : ok('git', version.replace('git version ', ''));
}

/** @param {string} root */
async function checkPnpm(root) {
  const pinned = pinnedPnpmVersion(root);
  const file = join(pnpmFolder(root), 'pnpm');
  return existsSync(file) ? ok('pnpm', pinned) : missing('pnpm', `${pinned} is not in .tools`);
}

/** @param {string} root */
function checkDependencies(root) {
  return dependenciesAreCurrent(root)
    ? ok('Dependencies', 'as in pnpm-lock.yaml')
    : missing('Dependencies', 'not installed, or the lockfile has changed since');
}

/** @param {string} root */
function checkBuild(root) {
  const unbuilt = ['video-dl', 'bg-removal'].filter(
    (app) => !existsSync(join(root, 'apps', app, 'dist', 'main.js')),
  );
  return unbuilt.length === 0
    ? ok('Build', 'both services')
    : missing('Build', `not built: ${unbuilt.join(', ')}`);
}

/**
 * @param {string} root
 * @param {{ env?: NodeJS.ProcessEnv, folder?: string }} [options] `folder` has what set-up has downloaded
 */
export async function checkFfmpeg(root, { env = process.env, folder = downloadFolder(root) } = {}) {
  const downloaded = join(folder, 'ffmpeg');
  const isElsewhere = !ffmpegTool.isThere(env) && existsSync(downloaded);
  const FFMPEG_PATH = isElsewhere ? downloaded : env.FFMPEG_PATH || staticFfmpeg(root);
  const { ffmpeg, ffprobe } = findFfmpeg({ ...env, FFMPEG_PATH });
  const version = await firstLine(ffmpeg ?? 'ffmpeg', ['-version']);
  if (ffmpeg === undefined || version === undefined)
    return missing('ffmpeg', 'not found', fixFor([ffmpegTool], 'ffmpeg'));
  /** @type {(string | undefined)[]} */
  const encoders = [];
  await runCommand(ffmpeg, ['-hide_banner', '-encoders'], {
    onLine: (line) => encoders.push(line.trim().split(/ +/)[1]),
  });
  const lacking = ['libmp3lame', 'libx264', 'aac'].filter((encoder) => !encoders.includes(encoder));
  const found = /version (\S+)/.exec(version)?.[1] ?? version;
  if (lacking.length > 0) {
    return missing('ffmpeg', `${found} without ${lacking.join(', ')}`, 'install a full build of ffmpeg');
  }
  const works = ffprobe !== undefined && (await firstLine(ffprobe, ['-version'])) !== undefined;
  if (!works) return missing('ffmpeg', `${found}, but no ffprobe`);
  return testedVersions.includes(versionIn(version) ?? '')
    ? ok('ffmpeg, ffprobe', found)
    : warning(
        'ffmpeg, ffprobe',
        `${found}, which was never tested`,
        `if a stream fails, try one of the tested versions: ${testedVersions.join(', ')}`,
      );
}

function checkNginx() {
  const { nginx, njsModule, version } = findNginx();
  if (nginx === undefined) return missing('nginx', 'not found', fixFor(runTools, 'nginx'));
  return njsModule === undefined
    ? missing('nginx', `${version} without its njs module`, fixFor(runTools, 'nginx'))
    : ok('nginx with njs', version ?? 'of unknown version');
}

/**
 * @param {readonly import('./system/system-tools.mjs').SystemTool[]} tools
 * @param {string} prefix
 */
function fixFor(tools, prefix) {
  const tool = tools.find(({ name }) => name.startsWith(prefix));
  if (tool === undefined) return setUpFix;
  return `${setUpFix}, or: apt-get install ${tool.apt.join(' ')} (brew install ${tool.brew.join(' ')})`;
}

/** @param {string} root */
export async function checkDownloadEngine(root, env = process.env) {
  const name = 'Download engine (yt-dlp)';
  const engine = await findPythonEngine({ root, env });
  if (engine === undefined) return missing(name, 'not set up');
  const { python, source } = engine;
  const version = await firstLine(python, ['-c', 'import yt_dlp.version as v; print(v.__version__)']);
  const fix = source === 'configured' ? 'set YTDLP_PYTHON to a Python that can, or unset it' : setUpFix;
  if (version === undefined) return missing(name, `${python} cannot import it`, fix);
  const ageDays = Math.floor((Date.now() - Date.parse(version.replaceAll('.', '-'))) / 86_400_000);
  const found = `${version} (${source}, ${ageDays} days old)`;
  return ageDays > 90
    ? warning(name, found, 'update it, see docs/operations.md: sites change weekly')
    : ok(name, found);
}

/** @param {string} root */
async function checkModel(root) {
  const name = 'Model for background removal';
  if (checkBuild(root).state !== 'ok') return notChecked(name);
  try {
    const { model, modelsDir, isInstalled } = await findModel(root);
    return isInstalled ? ok(name, model) : missing(name, `${model} is not in ${modelsDir}`);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return wrong(name, error.message);
  }
}

async function checkPort() {
  const host = process.env.HOST || '127.0.0.1';
  let port;
  try {
    port = portFrom(process.env, 'PORT', 8080);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return wrong('Gateway port', error.message);
  }
  const failure = await listenFailure(port, host);
  return failure === undefined
    ? ok('Gateway port', `${host}:${port} is free`)
    : warning(
        'Gateway port',
        `${host}:${port}: ${failure}`,
        failure === 'EADDRINUSE'
          ? 'already running? Otherwise choose another port: PORT=8090 npm start'
          : 'check HOST, an IP address of this machine, and PORT',
      );
}

/**
 * Returns one row per problem.
 * @param {string} root
 * @returns {Promise<Diagnosis[]>}
 */
async function checkAllSettings(root) {
  const name = 'Settings';
  if (checkBuild(root).state !== 'ok') return [notChecked(name)];
  const { problems, notes } = await checkSettings();
  const valid = problems.length === 0 ? [ok(name, 'valid for the gateway and both services')] : [];
  return [
    ...valid,
    ...problems.map((problem) => wrong(name, problem)),
    ...notes.map((note) => warning(name, note, 'see docs/configuration.md')),
  ];
}

/** @param {string} root */
function checkDisk(root) {
  const { bavail, bsize } = statfsSync(root);
  const gigabytes = (bavail * bsize) / 1e9;
  return gigabytes >= 2
    ? ok('Disk space', `${gigabytes.toFixed(0)} GB free`)
    : warning('Disk space', `${gigabytes.toFixed(1)} GB free`, 'set-up needs about 2 GB');
}

/** @param {string} root */
function checkFolder(root) {
  const name = 'Checkout';
  try {
    for (const folder of [root, toolsDir]) if (existsSync(folder)) accessSync(folder, constants.W_OK);
    return ok(name, root);
  } catch (error) {
    const fix = 'run as the user who owns it: set-up and the logs write into it';
    return warning(name, `${root} is not writable (${systemErrorCode(error)})`, fix);
  }
}

/** @param {import('./system/system-tools.mjs').SystemTool} tool */
function checkTestTool(tool) {
  return tool.isThere()
    ? ok(`${tool.name} (tests)`, findExecutable(tool.name) ?? 'present')
    : warning(`${tool.name} (tests)`, 'not found', `apt-get install ${tool.apt.join(' ')}; npm test does it`);
}

/**
 * @returns {Promise<Diagnosis[]>}
 * @param {string} root
 */
export async function diagnose(root) {
  const rows = await Promise.all([
    checkNode(root),
    checkGit(),
    checkPnpm(root),
    checkDependencies(root),
    checkBuild(root),
    checkFfmpeg(root),
    checkNginx(),
    isWanted('video-dl') ? checkDownloadEngine(root) : [],
    isWanted('bg-removal') ? checkModel(root) : [],
    checkPort(),
    checkAllSettings(root),
    checkDisk(root),
    checkFolder(root),
    ...testTools.map(checkTestTool),
  ]);
  return rows.flat();
}
