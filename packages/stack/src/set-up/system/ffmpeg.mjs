import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runCommand } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';
import { installSystemTools } from './system-packages.mjs';
import { ffmpegTool } from './system-tools.mjs';

/**
 * @typedef {object} Ffmpeg the source of ffmpeg and ffprobe
 * @property {string} source
 * @property {string} [FFMPEG_PATH] setting for the services, if it isn't on PATH
 * @property {string} [FFPROBE_PATH] next to it, where video-dl finds it
 */

/** @param {string} root */
export const downloadFolder = (root) => join(root, '.tools', 'ffmpeg');

/**
 * Makes sure that ffmpeg and ffprobe exist: the configured ones, those on PATH, from the
 * system's package manager, or downloaded by ffmpeg-static's install script.
 * @param {{ root: string, log: (line: string) => void, env: NodeJS.ProcessEnv, folder?: string }} options
 *   `env` may name a mirror in FFMPEG_BINARIES_URL; downloads go to `folder`
 * @returns {Promise<Ffmpeg>}
 * @throws {UserError} naming what was tried and how to fix it
 */
export async function setUpFfmpeg({ root, log, env, folder = downloadFolder(root) }) {
  if (ffmpegTool.isThere(env)) return { source: 'present' };
  const paths = { FFMPEG_PATH: join(folder, 'ffmpeg'), FFPROBE_PATH: join(folder, 'ffprobe') };
  if (await bothWork(paths)) return { source: 'ffmpeg-static, downloaded earlier', ...paths };
  let advice;
  try {
    return { source: await installSystemTools({ tools: [ffmpegTool], log, env }) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    advice = error.message;
  }
  log('downloading ffmpeg with ffmpeg-static (about 30 MB)');
  mkdirSync(folder, { recursive: true });
  const reason =
    (await fetchFfmpeg(root, paths.FFMPEG_PATH, env, log)) ?? copyFfprobe(root, paths.FFPROBE_PATH);
  if (reason === undefined && (await bothWork(paths))) return { source: 'ffmpeg-static', ...paths };
  throw new UserError(
    `${advice}\nffmpeg-static failed too: ${reason ?? 'its programs do not run here'}. To use a mirror of its releases, set FFMPEG_BINARIES_URL.`,
  );
}

/**
 * Runs ffmpeg-static's own install script.
 * @param {string} root
 * @param {string} target
 * @param {NodeJS.ProcessEnv} env
 * @param {(line: string) => void} log
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
  return code === 0 ? undefined : (output.trim().split('\n')[0] ?? `it ended with ${code}`);
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

/** @param {{ FFMPEG_PATH: string, FFPROBE_PATH: string }} paths */
async function bothWork({ FFMPEG_PATH, FFPROBE_PATH }) {
  for (const file of [FFMPEG_PATH, FFPROBE_PATH]) {
    if ((await runCommand(file, ['-version'])).code !== 0) return false;
  }
  return true;
}
