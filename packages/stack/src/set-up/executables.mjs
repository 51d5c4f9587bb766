import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';

/**
 * Finds a program on PATH or in one of the extra folders. Returns its full path, or undefined.
 * @param {string} name
 * @param {readonly string[]} extraFolders
 */
export function findExecutable(name, extraFolders = [], env = process.env) {
  const folders = [...(env.PATH ?? '').split(delimiter), ...extraFolders];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, name))
    .find(isExecutable);
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

/** The headless shell comes first, because it opens a page in half the time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/**
 * The browser that opens the web page in tests and measurements: CHROMIUM_PATH, or Chromium on PATH.
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function findBrowser(env = process.env) {
  return env.CHROMIUM_PATH || names.map((name) => findExecutable(name, [], env)).find(Boolean);
}

const moduleFile = 'ngx_http_js_module.so';

/** Debian installs nginx in /usr/sbin, which is often not on an unprivileged user's PATH. */
const extraFolders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/nginx/sbin'];

/**
 * Finds nginx and its JavaScript module.
 * @returns {{ nginx: string | undefined, njsModule: string | undefined, version: string | undefined }}
 */
export function findNginx(env = process.env) {
  const nginx = env.NGINX_PATH || findExecutable('nginx', extraFolders, env);
  if (nginx === undefined) return { nginx: undefined, njsModule: undefined, version: undefined };
  const { stderr } = spawnSync(nginx, ['-V'], { encoding: 'utf8' });
  const about = stderr ?? '';
  return {
    nginx,
    njsModule: env.NGINX_NJS_MODULE || findNjsModule(about),
    version: /nginx\/([\d.]+)/.exec(about)?.[1],
  };
}

/** @param {string} about */
function findNjsModule(about) {
  const prefix = /--prefix=(\S+)/.exec(about)?.[1];
  const modulesPath = /--modules-path=(\S+)/.exec(about)?.[1];
  const folders = [
    modulesPath,
    prefix && join(prefix, 'modules'),
    '/usr/lib/nginx/modules',
    '/usr/lib64/nginx/modules',
    '/usr/share/nginx/modules',
    '/etc/nginx/modules',
    '/opt/homebrew/lib/nginx/modules',
  ];
  return folders
    .filter((folder) => folder !== undefined)
    .map((folder) => join(folder, moduleFile))
    .find((file) => existsSync(file));
}

/**
 * The arguments to run a rendered gateway in the foreground. If we are root, the workers run as
 * root too, because the distribution's nginx user may not be able to read this folder.
 * @param {string} runDir the folder that `renderGateway` wrote
 */
export function gatewayArguments(runDir) {
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return ['-p', runDir, '-c', join(runDir, 'nginx.conf'), '-e', 'stderr', '-g', `daemon off;${user}`];
}
