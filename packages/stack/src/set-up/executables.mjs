import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';

/**
 * Finds a program on PATH or in one of the extra folders. Returns its full path, or undefined.
 * @param {string} name
 * @param {readonly string[]} extraFolders
 */
export function findExecutable(name, extraFolders = [], env = process.env) {
  const folders = [...(env.PATH ?? '').split(delimiter), ...extraFolders].filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // Missing or not executable; try the next folder.
    return false;
  }
}

/**
 * ffmpeg and ffprobe where video-dl looks for them: FFMPEG_PATH or else PATH; next to ffmpeg or else PATH.
 * @returns {{ ffmpeg: string | undefined, ffprobe: string | undefined }}
 */
export function findFfmpeg(env = process.env) {
  const ffmpeg = env.FFMPEG_PATH || findExecutable('ffmpeg', [], env);
  if (ffmpeg === undefined) return { ffmpeg, ffprobe: undefined };
  const PATH = [dirname(ffmpeg), env.PATH].join(delimiter);
  return { ffmpeg, ffprobe: findExecutable('ffprobe', [], { PATH }) };
}

/**
 * The browser that opens the web page in tests and measurements: CHROMIUM_PATH, or Chromium on PATH.
 * @returns {string | undefined}
 */
export function findBrowser(env = process.env) {
  // The headless shell comes first, because it opens a page in half the time.
  const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
  return env.CHROMIUM_PATH || names.map((name) => findExecutable(name, [], env)).find(Boolean);
}

/** Debian installs nginx in /usr/sbin, which is often not on an unprivileged user's PATH. */
const nginxFolders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin'];

/**
 * Finds nginx and its JavaScript module.
 * @returns {{ nginx?: string, njsModule?: string | undefined, version?: string | undefined }}
 */
export function findNginx(env = process.env) {
  const nginx = env.NGINX_PATH || findExecutable('nginx', nginxFolders, env);
  if (nginx === undefined) return {};
  const about = spawnSync(nginx, ['-V'], { encoding: 'utf8' }).stderr ?? '';
  const built = (/** @type {string} */ option) => new RegExp(`--${option}=(\\S+)`).exec(about)?.[1] ?? '';
  const folders = [built('modules-path'), join(built('prefix'), 'modules'), '/usr/lib/nginx/modules'];
  return {
    nginx,
    njsModule:
      env.NGINX_NJS_MODULE ||
      folders.map((folder) => join(folder, 'ngx_http_js_module.so')).find((file) => existsSync(file)),
    version: /nginx\/([\d.]+)/.exec(about)?.[1],
  };
}
