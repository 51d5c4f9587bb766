import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { dependenciesAreCurrent } from '../set-up/dependencies.mjs';
import { findFfmpeg, findNginx } from '../set-up/executables.mjs';
import { withStaticFfmpeg } from '../set-up/ffmpeg.mjs';
import { gatewayAddress, listenFailure } from '../set-up/ports.mjs';
import { checkNodeVersion, isWanted, root } from '../set-up/project.mjs';
import { findPythonEngine, ytDlpVersionOf } from '../set-up/python-engine.mjs';
import { runCommand } from '../set-up/run-command.mjs';
import { runModelSetUp } from '../set-up/set-up.mjs';
import { checkSettings } from './settings-problems.mjs';
import { UserError } from '../set-up/user-error.mjs';

/** The versions of ffmpeg that the tests run with: Debian 12's, an older one from PyPI, and the one of `npm start`. */
const testedVersions = ['5.1', '7.0', '9.0'];

/**
 * @typedef {object} Diagnosis
 * @property {string} name
 * @property {'ok' | 'warning' | 'wrong'} state `wrong` keeps the project from running
 * @property {string} found
 * @property {string} [fix]
 *
 * @typedef {Omit<Diagnosis, 'name'>} Finding
 */

/** @type {(found: string) => Finding} */
const ok = (found) => ({ state: 'ok', found });
/** @type {(found: string, fix: string) => Finding} */
const warning = (found, fix) => ({ state: 'warning', found, fix });
/** @type {(found: string, fix?: string) => Finding} */
const wrong = (found, fix = 'npm run setup') => ({ state: 'wrong', found, fix });

/** @returns {Promise<readonly Diagnosis[]>} */
export async function diagnose() {
  const isBuilt = ['video-dl', 'bg-removal'].every((app) =>
    existsSync(join(root, 'apps', app, 'dist/main.js')),
  );
  const isReady = isBuilt && dependenciesAreCurrent(root);
  const rows = await Promise.all([
    row('Node', checkNode),
    row('Dependencies and build', () => (isReady ? ok('up to date') : wrong('missing, or not up to date'))),
    row('ffmpeg, ffprobe', () => checkFfmpeg(root)),
    row('nginx with njs', checkNginx),
    ...(isWanted('video-dl') ? [row('Download engine (yt-dlp)', () => checkDownloadEngine(root))] : []),
    ...(isBuilt && isWanted('bg-removal') ? [row('Model for background removal', checkModel)] : []),
    row('Gateway port', checkPort),
    ...(isBuilt ? [checkAllSettings()] : []),
    row('Disk space', checkDisk),
  ]);
  return rows.flat();
}

/**
 * @param {string} name
 * @param {() => Finding | Promise<Finding>} check may throw a UserError, which says what to correct
 * @returns {Promise<Diagnosis[]>}
 */
async function row(name, check) {
  try {
    return [{ name, ...(await check()) }];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ name, state: 'wrong', found: error.message }];
  }
}

function checkNode() {
  checkNodeVersion();
  return ok(process.versions.node);
}

/**
 * @param {string} root
 * @returns {Promise<Finding>}
 */
export async function checkFfmpeg(root, env = process.env) {
  const { ffmpeg, ffprobe } = findFfmpeg(withStaticFfmpeg(root, env));
  if (ffmpeg === undefined || ffprobe === undefined) return wrong(ffmpeg ? 'no ffprobe' : 'not found');
  /** @type {string[]} */
  const lines = [];
  const onLine = (/** @type {string} */ line) => void lines.push(line);
  const { code } = await runCommand(ffmpeg, ['-encoders'], { onLine });
  const version = /ffmpeg version (\S+)/.exec(lines.join('\n'))?.[1];
  if (code !== 0 || version === undefined) return wrong(`${ffmpeg} does not run`);
  const encoders = lines.map((line) => line.trim().split(/ +/)[1]);
  const lacking = ['libmp3lame', 'libx264', 'aac'].filter((encoder) => !encoders.includes(encoder));
  if (lacking.length > 0)
    return wrong(`${version} without ${lacking.join(', ')}`, 'install a full build of ffmpeg');
  if (testedVersions.includes(/^n?(\d+\.\d+)/.exec(version)?.[1] ?? '')) return ok(version);
  const fix = `if a stream fails, try one of the tested versions: ${testedVersions.join(', ')}`;
  return warning(`${version}, which was never tested`, fix);
}

function checkNginx() {
  const { nginx, njsModule, version = 'of unknown version' } = findNginx();
  if (nginx === undefined) return wrong('not found');
  return njsModule === undefined ? wrong(`${version} without its njs module`) : ok(version);
}

/** @param {string} root */
export function checkDownloadEngine(root, env = process.env) {
  const engine = findPythonEngine({ root, env });
  if (engine === undefined) return wrong('not set up');
  const { python, source } = engine;
  const version = ytDlpVersionOf(python);
  const fix = source === 'configured' ? 'set YTDLP_PYTHON to a Python that can, or unset it' : undefined;
  if (version === undefined) return wrong(`${python} cannot import it`, fix);
  const ageDays = Math.floor((Date.now() - Date.parse(version.replaceAll('.', '-'))) / 86_400_000);
  const found = `${version} (${source}, ${ageDays} days old)`;
  return ageDays > 90 ? warning(found, 'update it, see docs/operations.md: sites change weekly') : ok(found);
}

async function checkModel() {
  const { code, output } = await runModelSetUp('--check');
  return code === 0 ? ok(output.trim()) : wrong(output.trim());
}

async function checkPort() {
  const { port, host } = gatewayAddress();
  const failure = await listenFailure(port, host);
  if (failure === undefined) return ok(`${host}:${port} is free`);
  const fix = 'already running? Otherwise choose another port, such as PORT=8090, and check HOST';
  return warning(`${host}:${port}: ${failure}`, fix);
}

/** @returns {Promise<Diagnosis[]>} one row per problem */
async function checkAllSettings() {
  const name = 'Settings';
  const fix = 'see docs/configuration.md';
  const { problems, notes } = await checkSettings();
  return [
    ...(problems.length === 0 ? [{ name, ...ok('valid for the gateway and both services') }] : []),
    ...problems.map((problem) => ({ name, ...wrong(problem, fix) })),
    ...notes.map((note) => ({ name, ...warning(note, fix) })),
  ];
}

function checkDisk() {
  const { bavail, bsize } = statfsSync(root);
  const gigabytes = (bavail * bsize) / 1e9;
  const found = `${gigabytes.toFixed(1)} GB free`;
  return gigabytes >= 2 ? ok(found) : warning(found, 'set-up needs about 2 GB');
}
