import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineFolder, findBrowser, findNginx, staticFfmpeg } from '@media-services/stack/set-up';
import { execa } from 'execa';

/** Variables that choose a program or change which tests run. */
const choices = ['FFMPEG_PATH', 'NGINX_NJS_MODULE', 'YTDLP_PYTHON', 'PYTHONPATH', 'MODEL', 'MODELS_DIR'];

/**
 * Changes when a program or model that the tests use changes. Turbo replays the results of
 * a package's tests only while this, its sources and what it depends on stay the same.
 */
export async function toolVersions(root: string, env: NodeJS.ProcessEnv): Promise<string> {
  const versionOf = async (file: string | undefined, ...args: readonly string[]) => {
    if (file === undefined) return 'none';
    const { all } = await execa(file, args, { env, extendEnv: false, reject: false, all: true });
    return all;
  };
  const versions = await Promise.all([
    versionOf(env.FFMPEG_PATH || 'ffmpeg', '-version'),
    versionOf(staticFfmpeg(root), '-version'),
    versionOf(staticFfmpeg(root, 'older'), '-version'),
    versionOf(findNginx(env).nginx, '-V'),
    versionOf(findBrowser(env), '--version'),
    versionOf('redis-server', '--version'),
    versionOf('promtool', '--version'),
  ]);
  const records = [
    join(root, engineFolder, '.venv', 'engine.json'),
    join(root, 'node_modules', '.set-up-stamp'),
  ].map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : ''));
  const all = [process.version, process.platform, process.arch, ...versions, ...records];
  return createHash('sha256')
    .update(JSON.stringify([...all, choices.map((name) => env[name])]))
    .digest('hex');
}
