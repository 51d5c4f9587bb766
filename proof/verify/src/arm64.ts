/** npm run proof -- arm64: every dependency that is no plain text has a build for 64-bit ARM under Linux. */
import assert from 'node:assert/strict';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { root, toolsDir } from '@media-services/stack/set-up';
import { parse } from 'yaml';
import { z } from 'zod';
import { Report } from './report.js';
import { run } from './run.js';

/** `e_machine` of an ELF header: AArch64 in the System V ABI. */
const elfMachineAarch64 = 183;
/** Of Debian trixie, which the images are made from: manylinux names the glibc that a wheel needs. */
const image = { python: '3.13', glibcMinor: 41 };
const oldestGlibcMinor = 17;
/** What the images and set-up install from Debian. */
const debianPackages = ['ffmpeg', 'libnginx-mod-http-js', 'nginx', 'python3', 'python3-venv', 'tini'];

const report = new Report();
await report.check('npm: what is there for x64 is there for arm64 in the same version', lockedBinaries);
await report.check('onnxruntime-node has an arm64 binary', onnxruntime);
await report.check('PyPI: every pinned package has a wheel for arm64 with a pinned hash', wheels);
await report.check('Debian has every package that is installed for arm64', debian);
report.end();

/** Packages that are one build for one platform, by the lock file. */
async function lockedBinaries(): Promise<string> {
  const lock = z
    .object({
      packages: z.record(
        z.string(),
        z.object({
          os: z.array(z.string()).optional(),
          cpu: z.array(z.string()).optional(),
          resolution: z.object({ integrity: z.string() }),
        }),
      ),
    })
    .parse(parse(await readFile(join(root, 'pnpm-lock.yaml'), 'utf8')));
  const forX64 = Object.entries(lock.packages)
    .filter(([, { os, cpu }]) => os?.includes('linux') && cpu?.includes('x64') && !cpu.includes('arm64'))
    .map(([name]) => name);
  assert.ok(forX64.length > 0, 'the lock file names no binary package');
  // Turborepo writes 64 for x64.
  const missing = forX64.filter((name) => !(name.replace(/x64|(?<=linux-)64/, 'arm64') in lock.packages));
  assert.deepEqual(missing, []);
  return forX64.map((name) => name.replace(/@[^@]*$/, '')).join(', ');
}

async function onnxruntime(): Promise<string> {
  const binaries = join(root, 'apps/bg-removal/node_modules/onnxruntime-node/bin');
  const [api = ''] = await readdir(binaries);
  const folder = join(binaries, api, 'linux', 'arm64');
  const files = (await readdir(folder)).filter((name) => /\.(node|so[.\d]*)$/.test(name));
  assert.ok(files.length >= 2, `${folder} holds ${files.join(' ')}`);
  for (const name of files) assert.equal(await elfMachine(join(folder, name)), elfMachineAarch64, name);
  return files.join(', ');
}

async function elfMachine(path: string): Promise<number> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
    assert.equal(buffer.toString('latin1', 1, 4), 'ELF', path);
    return buffer.readUInt16LE(18);
  } finally {
    await file.close();
  }
}

/** Downloads them for the platform of the image, with the hashes that the image asks for. */
async function wheels(): Promise<string> {
  const platforms = Array.from(
    { length: image.glibcMinor - oldestGlibcMinor + 1 },
    (_, index) => `manylinux_2_${oldestGlibcMinor + index}_aarch64`,
  );
  const folder = join(toolsDir, 'arm64-wheels');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await run('python3', [
    ...['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '--only-binary=:all:'],
    ...['--python-version', image.python, '--implementation', 'cp'],
    ...['manylinux2014_aarch64', ...platforms].flatMap((platform) => ['--platform', platform]),
    ...['--dest', folder, '--requirement', join(root, 'apps/video-dl/engine/requirements.txt')],
  ]);
  const files = await readdir(folder);
  await rm(folder, { recursive: true });
  const binary = files.filter((name) => name.includes('aarch64')).map((name) => name.split('-', 2).join(' '));
  assert.ok(binary.length > 0, 'no package is a binary');
  return `${files.length} wheels, of which binary: ${binary.sort().join(', ')}`;
}

/** By apt, with lists of its own for that architecture and the sources of this machine. */
async function debian(): Promise<string> {
  const state = join(toolsDir, 'apt-arm64');
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  const options = [
    ...['APT::Architecture=arm64', 'APT::Architectures=arm64', 'Acquire::Languages=none'],
    ...[`Dir::State=${state}`, `Dir::State::status=/dev/null`, `Dir::Cache=${state}`],
  ].flatMap((option) => ['-o', option]);
  await run('apt-get', [...options, '--quiet=2', 'update']);
  const out = await run('apt-cache', [...options, 'show', '--no-all-versions', ...debianPackages]);
  const found = [...out.matchAll(/^Package: (.+)$[^]*?^Version: (.+)$/gm)].map(([, name, version]) => ({
    name: name ?? '',
    version: version ?? '',
  }));
  const names = found.map(({ name }) => name);
  assert.deepEqual(
    debianPackages.filter((name) => !names.includes(name)),
    [],
  );
  return found.map(({ name, version }) => `${name} ${version}`).join(', ');
}
