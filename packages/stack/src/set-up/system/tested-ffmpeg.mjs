import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, tailOf } from '../run-command.mjs';
import { UserError } from '../user-error.mjs';

/** @typedef {{ version: string, requirement: string, hashes: readonly string[] }} Release */

/**
 * Builds of ffmpeg that PyPI has, for x86-64 and ARM64. Versions differ in the options that they accept.
 * @type {readonly Release[]}
 */
const releases = [
  {
    version: '7.0',
    requirement: 'imageio-ffmpeg==0.6.0',
    hashes: [
      '1d47bebd83d2c5fc770720d211855f208af8a596c82d17730aa51e815cdee6dc',
      '9d2baaf867088508d4a3458e61eeb30e945c4ad8016025545f66c4b5aaef0a61',
      'b1ae3173414b5fc5f538a726c4e48ea97edc0d2cdc11f103afee655c463fa742',
      'c7e46fcec401dd990405049d2e2f475e2b397779df2519b544b8aab515195282',
    ],
  },
  {
    version: '9.0',
    requirement: 'imageio-ffmpeg==0.8.1',
    hashes: [
      '050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda',
      'fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e',
    ],
  },
];

/** The versions that the tests run with: Debian 12's, and those above. */
export const testedVersions = ['5.1', ...releases.map(({ version }) => version)];

/** The major and minor version in the first line of `ffmpeg -version`; undefined for a build without one. */
export const versionIn = (/** @type {string} */ line) => /version n?(\d+\.\d+)/.exec(line)?.[1];

/** @param {string} root */
export const testedFolder = (root) => join(root, '.tools', 'tested-ffmpeg');

/**
 * Installs the other versions that the tests run with.
 * @param {{ root: string, python: string, log: (line: string) => void }} options `python` has pip
 * @throws {UserError} if PyPI doesn't deliver them
 */
export async function installTestedFfmpeg({ root, python, log }) {
  for (const release of releases) {
    const target = join(testedFolder(root), release.version);
    if (existsSync(join(target, 'ffmpeg'))) continue;
    log(`${release.version} from PyPI`);
    await install({ release, python, target });
  }
}

/** @param {{ release: Release, python: string, target: string }} options */
async function install({ release: { version, requirement, hashes }, python, target }) {
  const work = `${target}.new`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const requirements = join(work, 'requirements.txt');
  writeFileSync(requirements, [requirement, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(' '));
  const options = ['--disable-pip-version-check', '--no-input', '--no-deps', '--require-hashes'];
  const { code, output } = await runCommand(python, [
    ...['-m', 'pip', 'install', ...options, '--target', work, '-r', requirements],
  ]);
  const folder = join(work, 'imageio_ffmpeg', 'binaries');
  const name = code === 0 ? readdirSync(folder).find((file) => file.startsWith('ffmpeg-')) : undefined;
  if (name === undefined) throw new UserError(`ffmpeg ${version} can't be installed: ${tailOf(output, 1)}`);
  chmodSync(join(folder, name), 0o755);
  mkdirSync(target, { recursive: true });
  renameSync(join(folder, name), join(target, 'ffmpeg'));
  rmSync(work, { recursive: true });
}
