import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findExecutable } from '../executables.mjs';

const moduleFile = 'ngx_http_js_module.so';

/** Debian keeps nginx in /usr/sbin, which the PATH of a plain user often lacks. */
const extraFolders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin', '/usr/local/nginx/sbin'];

/**
 * The nginx to run and its JavaScript module, where they are installed.
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
 * The arguments that run a rendered gateway in the foreground. As root, the workers
 * stay root: the unprivileged user of the distribution may not read this folder.
 * @param {string} runDir the folder that `renderGateway` wrote
 */
export function gatewayArguments(runDir) {
  const user = process.getuid?.() === 0 ? ' user root;' : '';
  return ['-p', runDir, '-c', join(runDir, 'nginx.conf'), '-e', 'stderr', '-g', `daemon off;${user}`];
}
